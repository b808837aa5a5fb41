import { describe, expect, test } from "vitest";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
for (const [host, key] of [
  ["track.example:8080", world.tenant.keys.admin],
  ["foreign.example", foreign.keys.admin],
] as const) {
  const domain = { host, scheme: "http", is_default: true };
  record(await world.post("/tracking-domains", domain, key));
}

const IMAGE = {
  name: 'Spring "sale" <b>',
  kind: "image",
  url: "https://cdn.example/banner.png?a=1&b=2",
  width: 300,
  height: 250,
};
const FIELDS = words("id offer_id name kind url body width height status created_at updated_at");

async function creative(offerId: number, fields: Json = {}): Promise<Json & { id: number }> {
  const answer = await world.post(`/offers/${offerId}/creatives`, { ...IMAGE, ...fields });
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  const made = record(answer);
  return { ...made, id: Number(made.id) };
}

async function idsSeen(offerId: number, key: string, query = ""): Promise<unknown[]> {
  const answer = await world.get(`/offers/${offerId}/creatives${query}`, key);
  expect([answer.status, answer.body["next_cursor"]]).toEqual([200, null]);
  return list(answer).map(({ id }) => id);
}

function linkOf(offer: Json): string {
  return `http://track.example:8080/r/${String(offer["code"])}/${world.tenant.affiliateCode}`;
}

describe("the list", () => {
  test("all creatives of an offer are one page, newest first, whatever limit says (CRE-001, LIM-011, G250)", async () => {
    const { id } = await world.offer();
    const made: number[] = [];
    for (let index = 0; index < 60; index += 1) made.push((await creative(id)).id);
    for (const key of Object.values(world.tenant.keys))
      expect(await idsSeen(id, key, "?limit=5&cursor=x")).toEqual(made.toReversed());
  });

  test("a creative has all of its fields (CRE-002)", async () => {
    const { id } = await world.offer();
    const made = await creative(id);
    expect(Object.keys(made).toSorted()).toEqual(FIELDS.toSorted());
    expect(made).toMatchObject({ ...IMAGE, offer_id: id, body: "", status: "active" });
    const [listed] = list(await world.get(`/offers/${id}/creatives`));
    expect(listed).toEqual(made);
    expect(record(await world.get(`/creatives/${made.id}`))).toEqual(made);
  });

  test("kind filters, and an unknown kind is refused (CRE-003, G54)", async () => {
    const { id } = await world.offer();
    const content = { body: "text", url: "" };
    const kinds: Record<string, number> = { image: (await creative(id)).id };
    for (const kind of ["html", "text", "link", "email"])
      kinds[kind] = (await creative(id, { ...content, kind })).id;
    for (const key of Object.values(world.tenant.keys)) {
      for (const [kind, made] of Object.entries(kinds))
        expect(await idsSeen(id, key, `?kind=${kind}`)).toEqual([made]);
    }
    const unknown = await world.get(`/offers/${id}/creatives?kind=video`);
    expect([refusal(unknown), details(unknown).param]).toEqual(["400 invalid_parameter", "kind"]);
  });

  test("an offer has at most 500 creatives, also with concurrent calls", async () => {
    const { id } = await world.offer();
    await world.pool.query({
      text: `insert into creative (workspace_id, offer_id, name, url)
             select $1, $2, 'n', 'https://cdn.example/a.png' from generate_series(1, 499)`,
      values: [world.tenant.workspaceId, id],
    });
    const both = await Promise.all([1, 2].map(() => world.post(`/offers/${id}/creatives`, IMAGE)));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect(await idsSeen(id, world.tenant.keys.admin)).toHaveLength(500);
    expect((await creative((await world.offer()).id)).id).toBeGreaterThan(0);
  });
});

describe("who sees what", () => {
  test("staff see every status, an advertiser only creatives of its offers (CRE-004, VIS-022)", async () => {
    const { keys } = world.tenant;
    const { id } = await world.offer();
    const inactive = await creative(id, { status: "inactive" });
    const active = await creative(id);
    for (const key of [keys.admin, keys.analyst, keys.advertiser]) {
      expect(await idsSeen(id, key)).toEqual([active.id, inactive.id]);
      expect((await world.get(`/creatives/${inactive.id}`, key)).status).toBe(200);
    }
    const other = Number(record(await world.post("/advertisers", { name: "Other" })).id);
    const others = await world.offer({ advertiser_id: other });
    const theirs = await creative(others.id);
    for (const path of [`/offers/${others.id}/creatives`, `/creatives/${theirs.id}`]) {
      expect((await world.get(path, keys.analyst)).status).toBe(200);
      expect(refusal(await world.get(path, keys.advertiser))).toBe("404 not_found");
    }
  });

  test("a partner sees only active creatives of offers that it can run (CRE-005, VIS-021)", async () => {
    const { partner } = world.tenant.keys;
    const { id } = await world.offer();
    const active = await creative(id);
    const inactive = await creative(id, { status: "inactive" });
    expect(await idsSeen(id, partner)).toEqual([active.id]);
    expect((await world.get(`/creatives/${active.id}`, partner)).status).toBe(200);
    expect((await world.get(`/creatives/${inactive.id}`, partner)).status).toBe(404);
    await world.patch(`/offers/${id}`, { status: "paused" });
    expect(await idsSeen(id, partner)).toEqual([]);
    expect((await world.get(`/creatives/${active.id}`, partner)).status).toBe(404);
    const gated = await world.offer({ visibility: "approval" });
    const waiting = await creative(gated.id);
    expect(await idsSeen(gated.id, partner)).toEqual([]);
    const { affiliateCode } = world.tenant;
    const approve = (offerId: number) =>
      world.call("PUT", `/offers/${offerId}/affiliates/${affiliateCode}`, {
        body: { status: "approved" },
      });
    await approve(gated.id);
    expect(await idsSeen(gated.id, partner)).toEqual([waiting.id]);
    const secret = await world.offer({ visibility: "private" });
    await creative(secret.id);
    expect((await world.get(`/offers/${secret.id}/creatives`, partner)).status).toBe(404);
    await approve(secret.id);
    expect(await idsSeen(secret.id, partner)).toHaveLength(1);
  });

  test("a partner's rows have its link, and escaped markup for images (CRE-006, G54)", async () => {
    const { partner } = world.tenant.keys;
    const offer = await world.offer();
    const image = await creative(offer.id);
    const plain = await creative(offer.id, { kind: "text", body: "Buy", url: "" });
    const link = linkOf(offer);
    const [text, banner] = list(await world.get(`/offers/${offer.id}/creatives`, partner));
    expect(Object.keys(text ?? {}).toSorted()).toEqual([...FIELDS, "tracking_link"].toSorted());
    expect(text).toMatchObject({ id: plain.id, tracking_link: link });
    expect(Object.keys(banner ?? {}).toSorted()).toEqual(
      [...FIELDS, "tracking_link", "html"].toSorted(),
    );
    expect(banner).toMatchObject({
      tracking_link: link,
      html: `<a href="${link}"><img src="https://cdn.example/banner.png?a=1&#38;b=2" width="300" height="250" alt="Spring &#34;sale&#34; &#60;b&#62;" border="0"></a>`,
    });
    expect(record(await world.get(`/creatives/${image.id}`, partner))).toEqual(banner);
  });

  test("{tracking_link} is replaced for partners only (CRE-007, CRE-008)", async () => {
    const { keys } = world.tenant;
    const offer = await world.offer();
    const content = {
      kind: "html",
      url: "{tracking_link}",
      body: '<a href="{tracking_link}">go</a>',
    };
    const { id } = await creative(offer.id, content);
    const link = linkOf(offer);
    const seen = record(await world.get(`/creatives/${id}`, keys.partner));
    expect(seen).toMatchObject({ url: link, body: `<a href="${link}">go</a>` });
    for (const key of [keys.admin, keys.analyst, keys.advertiser]) {
      const one = record(await world.get(`/creatives/${id}`, key));
      const [listed] = list(await world.get(`/offers/${offer.id}/creatives`, key));
      expect(listed).toEqual(one);
      expect(one).toMatchObject(content);
      expect(Object.keys(one).toSorted()).toEqual(FIELDS.toSorted());
    }
  });
});

describe("writes", () => {
  test("admins write, analysts may only read, others are refused (CRE-009, G179)", async () => {
    const { keys } = world.tenant;
    const { id: offerId } = await world.offer();
    const { id } = await creative(offerId);
    const refused = [
      [keys.analyst, "403 read_only_key"],
      [keys.partner, "403 forbidden"],
      [keys.advertiser, "403 forbidden"],
    ] as const;
    for (const [key, why] of refused) {
      expect(refusal(await world.post(`/offers/${offerId}/creatives`, IMAGE, key))).toBe(why);
      expect(refusal(await world.patch(`/creatives/${id}`, { name: "x" }, key))).toBe(why);
      expect(refusal(await world.call("DELETE", `/creatives/${id}`, { key }))).toBe(why);
    }
    const changed = await world.patch(`/creatives/${id}`, { name: "Autumn", status: "inactive" });
    expect(record(changed)).toMatchObject({ ...IMAGE, name: "Autumn", status: "inactive" });
    const again = await world.patch(`/creatives/${id}`, { name: "Autumn" });
    expect(record(again)).toEqual(record(changed));
    const deleted = await world.call("DELETE", `/creatives/${id}`);
    expect(deleted.body).toEqual({ data: { id, deleted: true } });
    expect(await idsSeen(offerId, keys.admin)).toEqual([]);
    expect((await world.call("DELETE", `/creatives/${id}`)).status).toBe(404);
  });

  test.each([
    ["name", { name: " " }],
    ["kind", { kind: "video" }],
    ["url", { url: "" }],
    ["url", { url: "ftp://cdn.example/a.png" }],
    ["url", { url: "/a.png" }],
    ["url", { url: "{landing}" }],
    ["body", { kind: "html", body: "" }],
    ["body", { kind: "email", url: "" }],
    ["width", { width: -1 }],
    ["height", { height: 1.5 }],
    ["status", { status: "paused" }],
    ["offer_id", { offer_id: 1 }],
  ] satisfies [string, Json][])(
    "a fault of %s is reported, and nothing is stored: %j",
    async (field, wrong) => {
      const { id } = await world.offer();
      const answer = await world.post(`/offers/${id}/creatives`, { ...IMAGE, ...wrong });
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(Object.keys(details(answer).fields)).toEqual([field]);
      expect(await idsSeen(id, world.tenant.keys.admin)).toEqual([]);
      const made = await creative(id);
      const change = await world.patch(`/creatives/${made.id}`, wrong);
      expect(Object.keys(details(change).fields)).toEqual([field]);
    },
  );

  test("creatives and offers of another workspace are 404 (P30)", async () => {
    const { id: offerId } = await world.offer();
    const { id } = await creative(offerId);
    for (const key of Object.values(foreign.keys)) {
      expect((await world.get(`/offers/${offerId}/creatives`, key)).status).toBe(404);
      expect((await world.get(`/creatives/${id}`, key)).status).toBe(404);
    }
    const { admin: key } = foreign.keys;
    expect((await world.post(`/offers/${offerId}/creatives`, IMAGE, key)).status).toBe(404);
    expect((await world.patch(`/creatives/${id}`, { name: "x" }, key)).status).toBe(404);
    expect((await world.call("DELETE", `/creatives/${id}`, { key })).status).toBe(404);
    expect(record(await world.get(`/creatives/${id}`))["name"]).toBe(IMAGE.name);
  });
});
