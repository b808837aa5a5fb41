import { describe, expect, test } from "vitest";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, record, refusal, someText } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
await world.post("/tracking-domains", { host: "default.example", is_default: true });

async function accessOf(offerId: number, status: string, note?: string) {
  const { affiliateCode } = world.tenant;
  return await world.call("PUT", `/offers/${offerId}/affiliates/${affiliateCode}`, {
    body: { status, ...(note === undefined ? {} : { note }) },
  });
}

describe("partner access (G47, G48, G49)", () => {
  test("PUT sets status and note (OFF-047, OFF-048, OFF-049, OFF-050, OFF-051, OFF-052, OFF-053, G50)", async () => {
    const { id } = await world.offer({ visibility: "approval" });
    const first = await accessOf(id, "approved", "welcome");
    expect(first.status).toBe(200);
    expect(first.body["data"]).toEqual({
      affiliate_id: world.tenant.affiliateId,
      affiliate_code: world.tenant.affiliateCode,
      affiliate_name: "Partner",
      status: "approved",
      note: "welcome",
      requested_at: someText,
      decided_at: someText,
    });
    expect((await accessOf(id, "pending")).body["data"]).toMatchObject({
      status: "pending",
      note: "",
      decided_at: null,
    });
    expect(details(await accessOf(id, "maybe")).fields).toHaveProperty("status");
    const unknown = { body: { status: "approved" } };
    expect(refusal(await world.call("PUT", `/offers/${id}/affiliates/NOBODY`, unknown))).toBe(
      "404 not_found",
    );
    const code = world.tenant.affiliateCode;
    expect(refusal(await world.call("PUT", `/offers/999999/affiliates/${code}`, unknown))).toBe(
      "404 not_found",
    );
  });

  test("access decides what it sees (OFF-054, OFF-055, OFF-056, OFF-058, OFF-059, OFF-060, VIS-012)", async () => {
    const { partner } = world.tenant.keys;
    const look = async (id: number) => record(await world.get(`/offers/${id}`, partner));
    const open = await world.offer();
    expect(await look(open.id)).toMatchObject({
      access_status: null,
      can_run: true,
      tracking_link: `https://default.example/r/${String(open["code"])}/${world.tenant.affiliateCode}`,
    });
    await accessOf(open.id, "rejected");
    expect(await look(open.id)).toMatchObject({ access_status: "rejected", can_run: false });
    expect(await look(open.id)).not.toHaveProperty("tracking_link");
    const gated = await world.offer({ visibility: "approval" });
    expect(await look(gated.id)).toMatchObject({ access_status: null, can_run: false });
    await accessOf(gated.id, "approved");
    expect(await look(gated.id)).toMatchObject({ access_status: "approved", can_run: true });
    await world.patch(`/offers/${gated.id}`, { status: "paused" });
    expect(await look(gated.id)).toMatchObject({ status: "paused", can_run: false });
    const secret = await world.offer({ visibility: "private" });
    expect(refusal(await world.get(`/offers/${secret.id}`, partner))).toBe("404 not_found");
    await accessOf(secret.id, "pending");
    expect(refusal(await world.get(`/offers/${secret.id}`, partner))).toBe("404 not_found");
    const listed = list(await world.get("/offers?limit=200", partner)).map(({ id }) => id);
    expect(listed).toEqual(expect.arrayContaining([open.id, gated.id]));
    expect(listed).not.toContain(secret.id);
    await accessOf(secret.id, "approved");
    expect(await look(secret.id)).toMatchObject({ can_run: true });
    const runnable = list(await world.get("/offers?limit=200&can_run=true", partner)).map(
      ({ id }) => id,
    );
    expect(runnable).toContain(secret.id);
    expect(runnable).not.toContain(open.id);
  });

  test("a partner sees its own payout, on cpc the offer's (#5, OFF-061, OFF-062, OFF-063, VIS-010, T25)", async () => {
    const { partner } = world.tenant.keys;
    const { id } = await world.offer({
      events: [
        { code: "lead", payout: "1" },
        { code: "hidden", is_private: true },
      ],
    });
    await world.overridePayout(id, "cps", "15");
    const seen = record(await world.get(`/offers/${id}`, partner));
    expect(seen).toMatchObject({ payout_type: "cps", payout: "15.0000" });
    expect(seen["events"]).toMatchObject([
      { code: "default", payout_type: "cps", payout: "15.0000" },
      { code: "lead", payout_type: "cpa", payout: "1.0000" },
    ]);
    const all = await world.post("/payout-overrides", {
      offer_id: id,
      affiliate_id: world.tenant.affiliateId,
      event_code: "*",
      payout_type: "cpa",
      payout: "7",
    });
    expect([all.status, record(all)["event_code"]]).toEqual([201, "*"]);
    expect(record(await world.get(`/offers/${id}`, partner))["events"]).toMatchObject([
      { code: "default", payout_type: "cps", payout: "15.0000" },
      { code: "lead", payout_type: "cpa", payout: "7.0000" },
    ]);
    const perClick = await world.offer({ payout_type: "cpc", payout: "0.05" });
    await world.overridePayout(perClick.id, "cpa", "15");
    expect(record(await world.get(`/offers/${perClick.id}`, partner))).toMatchObject({
      payout_type: "cpc",
      payout: "0.0500",
    });
  });
});

describe("reading", () => {
  test("id and code name the same offer, an id wins (ENV-016, OFF-004, G25)", async () => {
    const offer = await world.offer({ code: "read-me" });
    const byDigits = await world.offer();
    await world.pool.query({
      text: "update offer set code = $1 where id = $2",
      values: [String(offer.id), byDigits.id],
    });
    expect(record(await world.get("/offers/READ-ME"))).toEqual(offer);
    expect(record(await world.get(`/offers/${offer.id}`))).toEqual(offer);
    expect(byDigits.id).not.toBe(offer.id);
    for (const path of [
      "999999",
      "nope",
      "0",
      "-1",
      "99999999999",
      "%00",
      "a%2Fb",
      "x".repeat(200),
    ]) {
      expect(refusal(await world.get(`/offers/${path}`)), path).toBe("404 not_found");
    }
  });

  test("filters select, and invalid values are refused with their names (OFF-003, G34, T72)", async () => {
    const tag = "only-here";
    const a = await world.offer({
      name: "100% legal",
      tags: [tag],
      is_featured: true,
      category: "cat",
      currency: "EUR",
    });
    const b = await world.offer({ name: "100 legal", tags: [tag], status: "paused" });
    const ids = async (query: string) =>
      list(await world.get(`/offers?tag=${tag}&${query}`)).map(({ id }) => id);
    expect(await ids("")).toEqual([b.id, a.id]);
    expect(await ids("status=paused")).toEqual([b.id]);
    expect(await ids(`q=${encodeURIComponent("0% L")}`)).toEqual([a.id]);
    expect(await ids(`q=${String(b["code"]).toLowerCase()}`)).toEqual([b.id]);
    expect(await ids(`q=${String(b["code"]).slice(0, 7)}`)).toEqual([]);
    expect(await ids(`ids=${a.id},${b.id},999999`)).toEqual([b.id, a.id]);
    expect(await ids("featured=true")).toEqual([a.id]);
    expect(await ids("category=cat&currency=EUR")).toEqual([a.id]);
    expect(await ids(`advertiser_id=${world.tenant.advertiserId}&_=1`)).toEqual([b.id, a.id]);
    for (const [query, param] of [
      ["status=gone", "status"],
      ["ids=1,x", "ids"],
      ["advertiser_id=abc", "advertiser_id"],
      ["featured=1", "featured"],
      ["can_run=true", "can_run"],
      ["q=%00", "q"],
      ["foo=bar", "foo"],
    ] as const) {
      const answer = await world.get(`/offers?${query}`);
      expect([refusal(answer), details(answer).param]).toEqual(["400 invalid_parameter", param]);
    }
    const probing = await world.get("/offers?advertiser_id=1", world.tenant.keys.partner);
    expect(refusal(probing)).toBe("400 invalid_parameter");
  });

  test("an advertiser sees own offers without payout (OFF-064, OFF-065, VIS-013, VIS-014, VIS-015, G52)", async () => {
    const { advertiser } = world.tenant.keys;
    const other = record(await world.post("/advertisers", { name: "Other" }));
    const foreign = await world.offer({ advertiser_id: other.id });
    const own = await world.offer({
      caps: { payout: { total: "5" }, conversions: { daily: 1 } },
      events: [{ code: "hidden", is_private: true }],
    });
    const answer = await world.get(`/offers/${own.id}`, advertiser);
    expect(record(answer)).toMatchObject({ revenue: "15.0000", events: [{}, { code: "hidden" }] });
    expect(JSON.stringify(answer.body)).not.toContain("payout");
    expect(refusal(await world.get(`/offers/${foreign.id}`, advertiser))).toBe("404 not_found");
    const listed = list(await world.get("/offers?limit=200", advertiser)).map(({ id }) => id);
    expect(listed).toContain(own.id);
    expect(listed).not.toContain(foreign.id);
  });

  test("a partner sees no revenue (VIS-003, VIS-004, VIS-005, VIS-006, VIS-007, VIS-008, VIS-009, VIS-058)", async () => {
    const { id } = await world.offer({
      caps: { conversions: { daily: 1 } },
      fallback_url: "https://fallback.example",
      allowed_domains: ["allowed.example"],
      events: [{ code: "hush", is_private: true }],
    });
    const text = JSON.stringify((await world.get(`/offers/${id}`, world.tenant.keys.partner)).body);
    for (const hidden of words(
      "revenue advertiser destination_url fallback caps allowed default_status hush",
    )) {
      expect(text).not.toContain(hidden);
    }
  });
});
