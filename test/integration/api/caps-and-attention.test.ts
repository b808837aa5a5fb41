import { expect, test } from "vitest";
import { z } from "zod";
import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import { zoneOf } from "../../../schemas/time/zone.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { type Answer, ApiWorld, details, nextCursor, record, refusal } from "./api-world.ts";

const SOON = { timeoutMs: 90_000 };

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const foreign = await world.addTenant("foreign");
const { affiliateId, advertiserId, keys, workspaceId } = world.tenant;

const Usage = z.array(
  z.looseObject({
    owner_kind: z.string(),
    owner_id: z.int(),
    measure: z.string(),
    period: z.string(),
    used: z.union([z.int(), z.string()]).nullable(),
    share: z.number().nullable(),
    is_reached: z.boolean().nullable(),
  }),
);
const usageOf = ({ body }: Answer) => Usage.parse(body["data"]);

async function convert(offer: { id: number }, fields: Record<string, unknown> = {}) {
  const body = { offer_id: offer.id, affiliate_id: affiliateId, ...fields };
  return record(await world.post("/conversions", body));
}

test("usage of an offer's caps equals what recording enforces, to the last unit (G39, G96)", async () => {
  const offer = await world.offer({
    caps: { conversions: { daily: 3, total: 100 }, payout: { monthly: "25" } },
  });
  const path = `/cap-usage?offer_id=${offer.id}`;
  const row = async (measure: string, period: string) =>
    usageOf(await world.get(path)).find((one) => one.measure === measure && one.period === period);
  expect(await row("conversions", "daily")).toMatchObject({ limit: 3, used: 0, share: 0 });
  const statuses: unknown[] = [];
  for (let n = 1; n <= 4; n += 1) {
    const { status, status_reason } = await convert(offer);
    statuses.push(status_reason === "" ? status : status_reason);
    const [conversions, payout] = [
      await row("conversions", "daily"),
      await row("payout", "monthly"),
    ];
    const counted = statuses.filter((one) => one === "approved").length;
    expect(conversions).toMatchObject({
      used: counted,
      share: Math.round((counted / 3) * 1e4) / 1e4,
    });
    expect(payout).toMatchObject({
      used: `${counted * 10}.0000`,
      currency: "USD",
      limit: "25.0000",
    });
    // Reached in the answer is reached for the next conversion.
    expect([conversions?.is_reached, payout?.is_reached]).toEqual([false, counted === 2]);
  }
  // The third would raise the payout to 30, above the cap of 25.
  expect(statuses).toEqual(["approved", "approved", "cap_exceeded", "cap_exceeded"]);
  const total = await row("conversions", "total");
  expect(total).toMatchObject({ limit: 100, resets_at: null });
});

test("a period begins at midnight of the workspace's zone (G39)", async () => {
  const zone = "Pacific/Kiritimati";
  await world.patch("/workspace", { timezone: zone });
  const offer = await world.offer({ caps: { conversions: { daily: 5 } } });
  const nowMs = Date.now();
  const dayMs = 86_400_000;
  const bucket = capBucket("daily", zone, nowMs);
  const midnightMs = zoneOf(zone)?.instantOf(bucket * dayMs) ?? 0;
  // The first two are of the day before in that zone, whatever day it is in UTC.
  for (const atMs of [midnightMs - 1_000, midnightMs - dayMs / 2, midnightMs + 1, midnightMs])
    await convert(offer, { conv_ts: new Date(Math.min(atMs, nowMs)).toISOString() });
  const [row] = usageOf(await world.get(`/cap-usage?offer_id=${offer.id}`));
  expect(row).toMatchObject({
    used: 2,
    share: 0.4,
    resets_at: new Date(midnightMs + dayMs).toISOString(),
  });
  await world.patch("/workspace", { timezone: "UTC" });
});

test("groups and budgets are counted over their offers, money in each currency (G105)", async () => {
  const made = record(await world.post("/advertisers", { name: "Budget" }));
  const offers = [
    await world.offer({ advertiser_id: made.id }),
    await world.offer({ advertiser_id: made.id, currency: "EUR" }),
  ];
  const budget = { budget_caps: { revenue: { total: "30" }, conversions: { total: 4 } } };
  await world.patch(`/advertisers/${made.id}/settings`, budget);
  const group = record(
    await world.post("/offer-groups", {
      name: "Both",
      offer_ids: offers.map(({ id }) => id),
      caps: { conversions: { total: 2 }, alert_only: true },
    }),
  );
  await world.untilProcessorsKnow();
  for (const offer of offers) await convert(offer);
  const ofAdvertiser = usageOf(await world.get(`/cap-usage?advertiser_id=${made.id}`));
  expect(ofAdvertiser).toMatchObject([
    { measure: "conversions", currency: null, used: 2, limit: 4, owner_name: "Budget" },
    { measure: "revenue", currency: "EUR", used: "15.0000", limit: "30.0000", share: 0.5 },
    { measure: "revenue", currency: "USD", used: "15.0000", limit: "30.0000" },
  ]);
  expect(usageOf(await world.get(`/cap-usage?offer_group_id=${group.id}`))).toMatchObject([
    { owner_kind: "group", measure: "conversions", used: 2, share: 1, alert_only: true },
  ]);
  const narrowed = record(
    await world.post("/keys", { role: "analyst", permissions: ["offers.read"] }),
  );
  const path = `/cap-usage?advertiser_id=${made.id}`;
  expect(usageOf(await world.get(path, String(narrowed["key"])))).toEqual([]);
});

test("clicks are unknown until every writer has reported, then those of the present period", async () => {
  const offer = await world.offer({ caps: { clicks: { daily: 10, hourly: 0 } } });
  const path = `/cap-usage?offer_id=${offer.id}`;
  expect(usageOf(await world.get(path)).map(({ used, share }) => [used, share])).toEqual([
    [null, null],
    [null, null],
  ]);
  const cap = `offer/${offer.id}/clicks/daily`;
  const bucket = capBucket("daily", "UTC", Date.now());
  const { connection, subjects } = world.nats;
  const publish = (lane: number, totals: unknown[]): void =>
    connection.publish(subjects.clickTotals, JSON.stringify({ lane, totals, isWhole: true }));
  for (const lane of FOUR_LANES.clicks) publish(lane, [{ cap, bucket: bucket - 1, clicks: 99 }]);
  publish(0, [{ cap, bucket, clicks: 6 }]);
  publish(1, [{ cap, bucket, clicks: 3 }]);
  // Late: an earlier total of the same period.
  publish(0, [{ cap, bucket, clicks: 4 }]);
  await until(
    "the totals arrived",
    async () => {
      const [daily] = usageOf(await world.get(path));
      return daily?.used === 9;
    },
    SOON,
  );
  expect(usageOf(await world.get(path))).toMatchObject([
    { measure: "clicks", period: "daily", used: 9, limit: 10, share: 0.9 },
    { measure: "clicks", period: "hourly", used: 0, limit: 0, share: 1 },
  ]);
});

test("usage is listed page by page, by share, and only of the own workspace (P30)", async () => {
  const theirs = await world.offer(
    { advertiser_id: foreign.advertiserId, caps: { conversions: { daily: 1 } } },
    foreign.keys.admin,
  );
  expect(usageOf(await world.get(`/cap-usage?offer_id=${theirs.id}`))).toEqual([]);
  const all = usageOf(await world.get("/cap-usage?limit=200"));
  const pages: unknown[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const more = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: Answer = await world.get(`/cap-usage?limit=3${more}`);
    pages.push(...usageOf(page));
    cursor = nextCursor(page);
  }
  expect(pages).toEqual(all);
  const high = usageOf(await world.get("/cap-usage?min_share=0.8&limit=200"));
  expect(high.length).toBeGreaterThan(0);
  expect(high).toEqual(
    all.filter(({ share, is_reached }) => (share ?? 0) >= 0.8 || is_reached === true),
  );
  for (const [param, value] of [
    ["min_share", "-1"],
    ["min_share", "1,5"],
    ["offer_id", "x"],
    ["offer_group_id", "0"],
    ["advertiser_id", "a"],
  ] as const)
    expect(details(await world.get(`/cap-usage?${param}=${value}`)).param).toBe(param);
  for (const key of [keys.partner, keys.advertiser])
    expect(refusal(await world.get("/cap-usage", key))).toBe("403 forbidden");
});

const Items = z.array(
  z.object({
    kind: z.string(),
    count: z.int(),
    is_whole: z.boolean(),
    path: z.string(),
    query: z.record(z.string(), z.string()),
  }),
);
const itemsOf = ({ body }: Answer) => Items.parse(body["data"]);

/** All rows of a list, page by page. */
async function lengthOf(
  path: string,
  query: Record<string, string>,
  key?: string,
): Promise<number> {
  let rows = 0;
  let cursor: string | null = "";
  while (cursor !== null) {
    const params = new URLSearchParams({
      ...query,
      limit: "2",
      ...(cursor === "" ? {} : { cursor }),
    });
    const page: Answer = await world.get(`${path}?${params.toString()}`, key);
    rows += z.array(z.unknown()).parse(page.body["data"]).length;
    cursor = nextCursor(page);
  }
  return rows;
}

test("every number of what waits is the length of the list that its query names (M6)", async () => {
  for (let n = 0; n < 3; n += 1)
    await world.post("/affiliates", { name: "New", status: "pending" });
  const approval = await world.offer({ visibility: "approval" });
  await world.post(`/offers/${approval.id}/access-request`, {}, keys.partner);
  const waiting = await world.offer({ default_status: "pending" });
  for (let n = 0; n < 3; n += 1) await convert(waiting);
  await convert(waiting, { conv_ts: new Date(Date.now() - 300 * 86_400_000).toISOString() });
  const held = await world.offer();
  await world.patch(`/offers/${held.id}/settings`, { hold_days: 5 });
  await until(
    "a conversion is held",
    async () => (await convert(held))["status"] === "pending",
    SOON,
  );
  const url = "https://partner.example/";
  const postback = record(await world.post("/postbacks", { offer_id: held.id, url }));
  await world.pool.query({
    text: "update postback set status = 'disabled', disabled_reason = 'HTTP 500' where id = $1",
    values: [postback.id],
  });
  const hook = { name: "x", url: "https://hooks.example/", events: ["offer.created"] };
  const webhook = record(await world.post("/webhooks", hook));
  await world.pool.query({
    text: "update webhook set active = false, disabled_reason = 'HTTP 500' where id = $1",
    values: [webhook.id],
  });
  await world.post("/webhooks", { ...hook, active: false });
  await world.post("/tracking-domains", { host: "a.example" });
  await world.post("/tracking-domains", { host: "b.example", certification: "certified" });
  await world.post("/tracking-domains", { host: "c.example", certification: "pending" });
  const items = itemsOf(await world.get("/attention"));
  expect(items.map(({ kind, query }) => [kind, query["status_reason"]])).toEqual([
    ["pending_affiliates", undefined],
    ["access_requests", undefined],
    ["pending_conversions", ""],
    ["pending_conversions", "hold"],
    ["disabled_postbacks", undefined],
    ["disabled_webhooks", undefined],
    ["caps", undefined],
    ["uncertified_domains", undefined],
    ["uncertified_domains", undefined],
  ]);
  for (const { kind, count, is_whole, path, query } of items) {
    expect([kind, is_whole, await lengthOf(path, query)]).toEqual([kind, true, count]);
    expect(count, kind).toBeGreaterThan(0);
  }
  expect(items.find(({ query }) => query["status_reason"] === "")?.count).toBe(4);
});

test("what waits contains only lists that the key may read, and nothing of other workspaces (P30)", async () => {
  expect(
    itemsOf(await world.get("/attention", foreign.keys.admin)).map(({ kind }) => kind),
  ).toEqual([]);
  const narrowed = record(
    await world.post("/keys", { role: "analyst", permissions: ["affiliates.read"] }),
  );
  const key = String(narrowed["key"]);
  const items = itemsOf(await world.get("/attention", key));
  expect(items.map(({ kind }) => kind)).toEqual(["pending_affiliates", "access_requests"]);
  for (const { path, query, count } of items) expect(await lengthOf(path, query, key)).toBe(count);
  for (const other of [keys.partner, keys.advertiser])
    expect(refusal(await world.get("/attention", other))).toBe("403 forbidden");
  expect(workspaceId).toBeGreaterThan(0);
  expect(advertiserId).toBeGreaterThan(0);
});

test("conversions are filtered by reason, duplicate, alert and advertiser, as the role sees them (VIS-059)", async () => {
  const offer = await world.offer({ caps: { conversions: { total: 1 }, alert_only: true } });
  const ids = [await convert(offer), await convert(offer)].map(({ id }) => id);
  const of = async (query: string, key?: string) =>
    z
      .array(z.looseObject({ id: z.string() }))
      .parse((await world.get(`/conversions?offer_id=${offer.id}&${query}`, key)).body["data"])
      .map(({ id }) => id);
  expect(await of("cap_alert=true")).toEqual([ids[1]]);
  expect(await of("cap_alert=false")).toEqual([ids[0]]);
  expect(await of("is_duplicate=true")).toEqual([]);
  expect(await of("is_duplicate=false", keys.partner)).toHaveLength(2);
  expect(await of("status_reason=", keys.advertiser)).toHaveLength(2);
  expect(await of("status_reason=hold")).toEqual([]);
  expect(await of(`advertiser_id=${advertiserId}`)).toHaveLength(2);
  expect(await of(`advertiser_id=${advertiserId}`, keys.advertiser)).toHaveLength(2);
  expect(await of(`advertiser_id=${foreign.advertiserId}`)).toEqual([]);
  for (const [query, param, key] of [
    ["cap_alert=true", "cap_alert", keys.partner],
    ["cap_alert=true", "cap_alert", keys.advertiser],
    [`advertiser_id=${advertiserId}`, "advertiser_id", keys.partner],
    [`advertiser_id=${foreign.advertiserId}`, "advertiser_id", keys.advertiser],
    ["is_duplicate=1", "is_duplicate", keys.admin],
    ["cap_alert=yes", "cap_alert", keys.admin],
  ] as const)
    expect(details(await world.get(`/conversions?${query}`, key)).param).toBe(param);
});
