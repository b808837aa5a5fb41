import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, record, refusal } from "./api-world.ts";

const PARTNER = "FIRSTX";
const AdFields = z.looseObject({ tracking_template: z.string(), final_url_suffix: z.string() });

const world = await forThisFile(ApiWorld.open());
const shop = await world.offer({ name: "Shop" });
const offerId = shop.id;
const code = String(shop["code"]);
const domainId = await addDomain("go.example", { is_default: true, certification: "certified" });
beforeEach(async () => {
  await setDomain(domainId, { status: "active", certification: "certified" });
});

async function addDomain(host: string, fields: Json = {}): Promise<number> {
  return Number(record(await world.post("/tracking-domains", { host, ...fields })).id);
}

async function setDomain(id: number, fields: Json): Promise<void> {
  expect((await world.patch(`/tracking-domains/${id}`, fields)).status).toBe(200);
}

async function addPartner(code_: string, status = "active"): Promise<number> {
  return Number(record(await world.post("/affiliates", { name: code_, code: code_, status })).id);
}

type Asked = Readonly<Record<string, string | number>>;
type Key = "admin" | "analyst" | "partner" | "advertiser";

function pathOf(query: Asked): string {
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return `/tracking-link?${new URLSearchParams(pairs).toString()}`;
}

async function ask(query: Asked, key: Key = "admin") {
  return await world.get(pathOf(query), world.tenant.keys[key]);
}

/** A link for the offer and partner of this file; `query` replaces or adds parameters. */
async function link(query: Asked = {}, key: Key = "admin"): Promise<Json> {
  const { status, body } = await ask({ offer: code, affiliate: PARTNER, ...query }, key);
  expect(status, JSON.stringify(body)).toBe(200);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ApiWorld has checked it against the schema of the operation
  return body["data"] as Json;
}

const CORE =
  "gclid={gclid}&campaignid={campaignid}&adgroupid={adgroupid}&creative={creative}&keyword={keyword}" +
  "&matchtype={matchtype}&network={network}&device={device}&placement={placement}&targetid={targetid}" +
  "&loc_physical_ms={loc_physical_ms}";

describe("a built link", () => {
  test("an affiliate link is built, nothing stored (LNK-001, LNK-005, LNK-007, LNK-014, LNK-022, T57)", async () => {
    const stored = async () =>
      (await world.pool.query({ text: "select count(*) as n from link_key" })).rows[0];
    const before = await stored();
    expect(await link()).toEqual({
      type: "affiliate",
      url: `https://go.example/r/${code}/${PARTNER}`,
      host: "go.example",
      offer: { id: offerId, code, name: "Shop" },
      affiliate: { id: world.tenant.affiliateId, code: PARTNER },
      warnings: [],
    });
    expect(await stored()).toEqual(before);
  });

  test("offer and partner by id or code in any case (LNK-002, LNK-003, G25)", async () => {
    const { url } = await link();
    for (const offer of [offerId, code.toLowerCase()]) {
      for (const affiliate of [world.tenant.affiliateId, PARTNER.toLowerCase()])
        expect((await link({ offer, affiliate }))["url"]).toBe(url);
    }
  });

  test.each([
    [{ sub1: "a b" }, "?sub1=a%20b"],
    [{ sub2: "x&y=z", sub1: "ü/?" }, "?sub1=%C3%BC%2F%3F&sub2=x%26y%3Dz"],
    [{ sub10: "#{gclid}", source_id: "feed 1" }, "?sub10=%23%7Bgclid%7D&source_id=feed%201"],
    [{ sub1: "", _other: "no" }, ""],
  ])("%j leads to %s (LNK-006, LNK-007)", async (subs, query) => {
    expect((await link(subs))["url"]).toBe(`https://go.example/r/${code}/${PARTNER}${query}`);
  });

  test("raw tags, url={lpurl} last (LNK-008, LNK-009, LNK-010, LNK-011, LNK-012, G170, T51, T57)", async () => {
    const url = `https://go.example/c/${code}-${PARTNER}?${CORE}&sub1=a%20b&url={lpurl}`;
    const built = await link({ type: "transparent", sub1: "a b" });
    expect(built).toEqual({
      type: "transparent",
      url,
      host: "go.example",
      offer: { id: offerId, code, name: "Shop" },
      affiliate: { id: world.tenant.affiliateId, code: PARTNER },
      warnings: [],
      link_key: `${code}-${PARTNER}`,
      google_ads: {
        tracking_template: url,
        certified: true,
        cert_status: "certified",
        final_url_suffix:
          "campaignid={campaignid}&adgroupid={adgroupid}&keyword={keyword}&sub1=a%20b",
      },
    });
    expect(url).not.toContain("force_transparent");
  });

  test("template and suffix pass the linter on a certified host (LNK-013)", async () => {
    const built = await link({ type: "transparent", sub3: "x" });
    const { tracking_template: template, final_url_suffix: suffix } = AdFields.parse(
      built["google_ads"],
    );
    const { body } = await world.post("/ad-platform/lint", { template, suffix });
    expect(body["data"]).toMatchObject({ ok: true, template: { issues: [] }, suffix: [] });
  });
});

describe("the host (LNK-015, LNK-016, LNK-031, G182)", () => {
  test("is found in its own script and in punycode, and is in punycode in the link (G246)", async () => {
    const id = await addDomain("klick.bücher.example");
    for (const host of [
      "klick.bücher.example",
      "KLICK.BÜCHER.example.",
      "klick.xn--bcher-kva.example",
    ]) {
      const { url } = await link({ host });
      expect(url, host).toBe(`https://klick.xn--bcher-kva.example/r/${code}/${PARTNER}`);
    }
    await world.call("DELETE", `/tracking-domains/${id}`);
  });

  test("is assigned to partner and offer, partner, offer, or the default; inactive ones are skipped", async () => {
    const { affiliateId } = world.tenant;
    const hostNow = async (): Promise<unknown> => {
      const { host, url } = await link();
      expect(new URL(String(url)).host).toBe(host);
      const offer = record(await world.get(`/offers/${offerId}`, world.tenant.keys.partner));
      expect(offer["tracking_link"], "the offer shows the same link").toBe(url);
      return host;
    };
    const assign = async (host: string, of: Json): Promise<number> => {
      const domain_id = await addDomain(host);
      const answer = await world.post("/tracking-domain-assignments", { domain_id, ...of });
      expect(answer.status).toBe(201);
      return domain_id;
    };
    expect(await hostNow()).toBe("go.example");
    const ofOffer = await assign("offer.example", { offer_id: offerId });
    expect(await hostNow()).toBe("offer.example");
    const ofPartner = await assign("partner.example", { affiliate_id: affiliateId });
    expect(await hostNow()).toBe("partner.example");
    const ofBoth = await assign("both.example", { affiliate_id: affiliateId, offer_id: offerId });
    expect(await hostNow()).toBe("both.example");
    for (const [id, next] of [
      [ofBoth, "partner.example"],
      [ofPartner, "offer.example"],
      [ofOffer, "go.example"],
    ] as const) {
      await setDomain(id, { status: "inactive" });
      expect(await hostNow()).toBe(next);
    }
    await setDomain(ofOffer, { scheme: "http", host: "offer.example:8080" });
    await setDomain(domainId, { status: "inactive" });
    expect(refusal(await ask({ offer: code, affiliate: PARTNER }))).toBe("409 no_tracking_domain");
    await setDomain(ofOffer, { status: "active" });
    expect((await link())["url"]).toBe(`http://offer.example:8080/r/${code}/${PARTNER}`);
    await setDomain(ofOffer, { status: "inactive" });
  });

  test("a partner is offered the hosts that are assigned to nobody else (LNK-032, G182)", async () => {
    const { keys, affiliateId } = world.tenant;
    const hosts = async (key: Key, offer: string | number = offerId) => {
      const answer = await world.get(`/offers/${offer}/link-hosts`, keys[key]);
      return answer.status === 200 ? answer.body["data"] : refusal(answer);
    };
    const other = await addPartner("HOSTSX");
    const shown = await world.offer({ name: "Another" });
    const ids: number[] = [];
    for (const [host, of] of [
      ["zoo.example", undefined],
      ["art.example", undefined],
      ["theirs.example", { affiliate_id: other }],
      ["elsewhere.example", { offer_id: shown.id }],
      ["mine.example", { affiliate_id: affiliateId, offer_id: shown.id }],
      ["off.example", undefined],
    ] as const) {
      const id = await addDomain(host);
      ids.push(id);
      if (of !== undefined)
        await world.post("/tracking-domain-assignments", { domain_id: id, ...of });
      if (host === "off.example") await setDomain(id, { status: "inactive" });
    }
    const own = await link({}, "partner");
    const found = z
      .array(z.strictObject({ host: z.string(), is_default: z.boolean() }))
      .parse(await hosts("partner"));
    expect(found[0]).toEqual({ host: own["host"], is_default: true });
    expect(found.slice(1).every((one) => !one.is_default)).toBe(true);
    const names = found.map(({ host }) => host);
    expect(names.slice(1)).toEqual(names.slice(1).toSorted());
    for (const name of ["zoo.example", "art.example"]) expect(names).toContain(name);
    for (const name of ["theirs.example", "elsewhere.example", "mine.example", "off.example"])
      expect(names).not.toContain(name);
    for (const host of names) expect((await link({ host }, "partner"))["host"]).toBe(host);
    const ofShown = z
      .array(z.looseObject({ host: z.string() }))
      .parse(await hosts("partner", shown.id));
    expect(ofShown[0]).toEqual({ host: "mine.example", is_default: true });
    expect(ofShown.map(({ host }) => host)).toContain("elsewhere.example");
    expect(ofShown.map(({ host }) => host)).not.toContain("theirs.example");
    const gated = await world.offer({ name: "Gated", visibility: "approval" });
    expect(await hosts("partner", gated.id)).toBe("403 not_approved");
    const hidden = await world.offer({ name: "Hidden", visibility: "private" });
    expect(await hosts("partner", hidden.id)).toBe("404 not_found");
    for (const key of ["admin", "advertiser"] as const)
      expect(await hosts(key)).toBe("403 forbidden");
    for (const id of ids) await setDomain(id, { status: "inactive" });
  });

  test("may be given, if it is an active one of the workspace", async () => {
    const other = await addDomain("other.example");
    expect(await link({ host: "OTHER.example" })).toMatchObject({
      host: "other.example",
      url: `https://other.example/r/${code}/${PARTNER}`,
    });
    const foreign = await world.addTenant("foreign");
    await world.post("/tracking-domains", { host: "foreign.example" }, foreign.keys.admin);
    await setDomain(other, { status: "inactive" });
    for (const host of ["other.example", "foreign.example", "evil.example", "go.example/x", ""]) {
      const answer = await ask({ offer: code, affiliate: PARTNER, host });
      expect(`${refusal(answer)} ${details(answer).param}`).toBe("400 invalid_parameter host");
    }
  });

  test("a workspace without an active tracking domain answers 409, and its offers show no link (LNK-027)", async () => {
    const bare = await world.addTenant("bare");
    const { admin, partner } = bare.keys;
    const { id } = await world.offer({ advertiser_id: bare.advertiserId }, admin);
    const path = pathOf({ offer: id, affiliate: bare.affiliateCode });
    expect(refusal(await world.get(path, admin))).toBe("409 no_tracking_domain");
    const seen = record(await world.get(`/offers/${id}`, partner));
    expect(seen).toMatchObject({ can_run: true });
    expect(seen).not.toHaveProperty("tracking_link");
    await world.post("/tracking-domains", { host: "bare.example", status: "inactive" }, admin);
    expect(refusal(await world.get(path, admin))).toBe("409 no_tracking_domain");
  });
});

test("a template forced on the partner replaces all values; its tags stay raw (LNK-017, G181)", async () => {
  const affiliate_id = await addPartner("FORCED");
  const template = {
    name: "Feed",
    params: { sub1: "{keyword}", sub3: "fixed value{ad id}&" },
    source_id: "src",
    affiliate_ids: [affiliate_id],
  };
  expect((await world.post("/traffic-source-templates", template)).status).toBe(201);
  const asked = { affiliate: "FORCED", sub1: "x", sub2: "y", source_id: "z" };
  const values = "sub1={keyword}&sub3=fixed%20value%7Bad%20id%7D%26&source_id=src";
  expect((await link(asked))["url"]).toBe(`https://go.example/r/${code}/FORCED?${values}`);
  expect(await link({ ...asked, type: "transparent" })).toMatchObject({
    url: `https://go.example/c/${code}-FORCED?${CORE}&${values}&url={lpurl}`,
    google_ads: {
      final_url_suffix: `campaignid={campaignid}&adgroupid={adgroupid}&keyword={keyword}&${values}`,
    },
  });
  expect((await link({ sub1: "x" }))["url"]).toContain("?sub1=x");
});

describe("warnings", () => {
  test("staff see why clicks would go to the fallback (LNK-018, LNK-019, LNK-020)", async () => {
    const paused = await world.offer({ status: "paused" });
    expect((await link({ offer: paused.id }))["warnings"]).toEqual([
      "the offer is paused: clicks go to the fallback",
    ]);
    await addPartner("BLOCKD", "blocked");
    expect((await link({ affiliate: "BLOCKD" }))["warnings"]).toEqual([
      "the partner is blocked: clicks go to the fallback",
    ]);
    const gated = await world.offer({ visibility: "approval" });
    expect((await link({ offer: gated.id }, "analyst"))["warnings"]).toEqual([
      "the partner is not approved for this approval offer: clicks go to the fallback",
    ]);
    const path = `/offers/${gated.id}/affiliates/${PARTNER}`;
    await world.call("PUT", path, { body: { status: "approved" } });
    expect((await link({ offer: gated.id }))["warnings"]).toEqual([]);
    await world.call("PUT", path, { body: { status: "rejected" } });
    expect((await link({ offer: gated.id }))["warnings"]).toHaveLength(1);
    const advertiser = record(await world.post("/advertisers", { name: "Off", status: "paused" }));
    const idle = await world.offer({ advertiser_id: advertiser.id });
    expect((await link({ offer: idle.id }))["warnings"]).toEqual([
      "the advertiser of the offer is paused: clicks go to the fallback",
    ]);
  });

  test.each(["admin", "analyst", "partner"] as const)(
    "%s keys get a warning of an uncertified domain, for both types (LNK-021, G172, T55)",
    async (key) => {
      for (const certification of ["pending", "not_certified"]) {
        await setDomain(domainId, { certification });
        expect((await link({}, key))["warnings"]).toEqual([
          "the tracking domain go.example is not certified",
        ]);
        expect(await link({ type: "transparent" }, key)).toMatchObject({
          warnings: ["the tracking domain go.example is not certified"],
          google_ads: { certified: false, cert_status: certification },
        });
      }
    },
  );
});

describe("permissions and parameters", () => {
  test("a partner gets its own link only, by default or named (LNK-023, LNK-030, VIS-054, G171)", async () => {
    const { url } = await link();
    expect((await ask({ offer: code }, "partner")).body).toMatchObject({ data: { url } });
    for (const affiliate of [PARTNER, world.tenant.affiliateId])
      expect((await link({ affiliate }, "partner"))["url"]).toBe(url);
    await addPartner("RIVALX");
    for (const affiliate of ["RIVALX", "NOBODY", "999999", "no code!"])
      expect(refusal(await ask({ offer: code, affiliate }, "partner"))).toBe("403 forbidden");
  });

  test("an offer that the partner may not run is 403, an invisible one 404 (LNK-024, LNK-025, T56)", async () => {
    const gated = await world.offer({ visibility: "approval" });
    const paused = await world.offer({ status: "paused" });
    const secret = await world.offer({ visibility: "private" });
    for (const { id } of [gated, paused])
      expect(refusal(await ask({ offer: id }, "partner"))).toBe("403 not_approved");
    expect(refusal(await ask({ offer: secret.id }, "partner"))).toBe("404 not_found");
    const approved = { body: { status: "approved" } };
    await world.call("PUT", `/offers/${secret.id}/affiliates/${PARTNER}`, approved);
    expect((await ask({ offer: secret.id }, "partner")).status).toBe(200);
  });

  test("an advertiser gets no link (LNK-026, VIS-054)", async () => {
    expect(refusal(await ask({ offer: code, affiliate: PARTNER }, "advertiser"))).toBe(
      "403 forbidden",
    );
  });

  test.each<[query: Asked, expected: string, id: string]>([
    [{}, "400 invalid_parameter offer", "LNK-002"],
    [{ offer: "" }, "400 invalid_parameter offer", "LNK-002"],
    [{ offer: "NOSUCH" }, "404 not_found undefined", "LNK-002"],
    [{ offer: "no code!" }, "404 not_found undefined", "LNK-002"],
    [{ affiliate: "NOBODY" }, "404 not_found undefined", "LNK-003"],
    [{ affiliate: "999999" }, "404 not_found undefined", "LNK-003"],
    [{ type: "x" }, "400 invalid_parameter type", "LNK-004"],
    [{ type: "" }, "400 invalid_parameter type", "LNK-004"],
    [{ sub1: "x".repeat(501) }, "400 invalid_parameter sub1", "LNK-006"],
  ])("%j is refused: %s (%s)", async (query, expected) => {
    const whole: Asked = {
      ...("offer" in query || Object.keys(query).length === 0 ? {} : { offer: code }),
      ...("affiliate" in query ? {} : { affiliate: PARTNER }),
      ...query,
    };
    const answer = await ask(whole);
    expect(`${refusal(answer)} ${details(answer).param || "undefined"}`).toBe(expected);
  });

  test("staff must name the partner (G171)", async () => {
    for (const key of ["admin", "analyst"] as const) {
      const answer = await ask({ offer: code }, key);
      expect(`${refusal(answer)} ${details(answer).param}`).toBe("400 invalid_parameter affiliate");
    }
  });
});
