import { expect, test } from "vitest";
import { eraseConversions } from "../../../schemas/erasure/erase-conversions.ts";
import type { PostbackReply } from "../../../schemas/events/postback-request.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { statusCommand } from "./staff-commands.ts";
import { ADVERTISER_TOKEN, type OfferSettings, TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open({ lanes: 2 }));

type Params = Record<string, string>;
type Order = { readonly id: string; readonly offerId: number; readonly params: Params };

const FULL = { caps: { conversions: { total: 0 } } };

/** A report with `status=approved` and an order id, recorded on a new offer. */
async function approvedOrder(settings: OfferSettings, more: Params = {}): Promise<Order> {
  const offerId = await world.addOffer(settings);
  const click = await world.addClick({ offer_id: offerId, is_bot: true, ageMs: 7 * 86_400_000 });
  const params = { click_id: click.click_id, txid: `T${offerId}`, status: "approved", ...more };
  const reply = await world.report(params);
  expect(reply.body.ok, JSON.stringify(reply)).toBe(true);
  return { id: String(reply.body["conversion_id"]), offerId, params };
}

async function historyLength(id: string): Promise<number> {
  return (await world.rows("select id from conversion_history where conversion_id = $1", [id]))
    .length;
}

async function used(offerId: number): Promise<unknown> {
  const [counter] = await world.rows("select used from cap_counter where cap = $1", [
    `offer/${offerId}/conversions/total`,
  ]);
  return counter?.["used"];
}

function statusOf({ body }: PostbackReply): string {
  const reason = typeof body["reason"] === "string" ? ` ${body["reason"]}` : "";
  return `${String(body["status"])}${reason}`;
}

test.each<[string, OfferSettings]>([
  ["rejected cap_exceeded", FULL],
  ["rejected outside_window", { attribution_days: 1 }],
  ["rejected too_fast", { min_seconds_to_conversion: 8 * 86_400 }],
  ["rejected fraud:bot", { fraud_checks: { bot: true } }],
  ["pending hold", { hold_days: "3" }],
])(
  "a repeat of a report that was answered %s changes nothing (#1, G198)",
  async (answer, settings) => {
    const { id, offerId, params } = await approvedOrder(settings);
    const before = await world.conversion(id);
    expect([before["status"], before["status_reason"]].join(" ")).toBe(answer);
    const again = [
      params,
      { status: "approved", order_id: params["txid"] ?? "", tid: params["click_id"] ?? "" },
      { ...params, event: "default", unread: "1" },
    ];
    for (const report of again) {
      const reply = await world.report(report);
      expect(reply.body).toMatchObject({ ok: true, conversion_id: id });
      expect(statusOf(reply)).toBe(answer);
    }
    expect(await world.conversion(id)).toEqual(before);
    expect(
      await world.rows("select id from conversion where offer_id = $1", [offerId]),
    ).toHaveLength(1);
  },
);

test("a repeat does not bypass rules or an address list (#1, G198)", async () => {
  await world.insert("conversion_rule", {
    workspace_id: world.workspaceId,
    name: "dear",
    action: "reject",
    conditions: { min_sale_amount: "5000" },
  });
  await world.insert("conversion_rule", {
    workspace_id: world.workspaceId,
    name: "look",
    action: "hold",
    conditions: { min_sale_amount: "4000" },
  });
  const expected = { 5000: "rejected rule:dear", 4000: "pending rule:look" };
  for (const [amount, answer] of Object.entries(expected)) {
    const { params } = await approvedOrder({}, { amount });
    expect(statusOf(await world.report(params))).toBe(answer);
  }
  await world.change("update advertiser set postback_ip_allowlist = '{198.51.100.0/24}'");
  const { params } = await approvedOrder({});
  expect(statusOf(await world.report(params))).toBe("rejected ip_not_allowed");
  await world.change("update advertiser set postback_ip_allowlist = '{}'");
});

test("a repeat with a token that may not change anything is also answered (#1, G198)", async () => {
  const { id, params } = await approvedOrder(FULL);
  await world.change("update workspace set advertiser_updates = false");
  const reply = await world.report({ ...params, token: ADVERTISER_TOKEN });
  expect(reply.body).toMatchObject({ ok: true, conversion_id: id, status: "rejected" });
  await world.change("update workspace set advertiser_updates = true");
});

test("a repeat does not change a decision by staff, and answers the current status (#1, G198)", async () => {
  const { id, params } = await approvedOrder({});
  await world.command(
    statusCommand(world, { ids: [id], status: "rejected", reason: "returned goods" }),
  );
  expect(statusOf(await world.report(params))).toBe("rejected returned goods");
  expect(await historyLength(id)).toBe(2);
});

test("the report that last changed a conversion is recognised as a repeat (#1, G198)", async () => {
  const { id, params } = await approvedOrder({});
  const reject = { conversion_id: id, status: "rejected" };
  const cheaper = { ...params, amount: "7", status: "rejected" };
  expect(statusOf(await world.report(reject))).toBe("rejected postback_reversal");
  expect(statusOf(await world.report(cheaper))).toBe("rejected postback_reversal");
  await world.rows("select set_conversion_status($1, array[$2::uuid], $3::jsonb, true, 1)", [
    world.workspaceId,
    id,
    JSON.stringify({ status: "approved", status_reason: "manual" }),
  ]);
  const changes = await historyLength(id);
  // The report that created it, and the last one that changed it.
  expect(statusOf(await world.report(params))).toBe("approved manual");
  expect(statusOf(await world.report(cheaper))).toBe("approved manual");
  expect(await historyLength(id)).toBe(changes);
  // This report is neither the first nor the last: an update.
  expect(statusOf(await world.report(reject))).toBe("rejected postback_reversal");
});

test("a late repeat without a status does not restore the first amount (#1, G198, PB-026)", async () => {
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId });
  const first = { click_id: click.click_id, txid: "late", amount: "100" };
  const id = String((await world.report(first)).body["conversion_id"]);
  expect((await world.report({ ...first, amount: "60" })).body).toMatchObject({ updated: true });
  const late = await world.report(first);
  expect(late.body).toMatchObject({ duplicate: true, reason: "duplicate" });
  expect(await world.conversion(id)).toMatchObject({ sale_amount: "60.0000", version: 2 });
});

test("a repeat finds its own conversion on an event that allows several (#1, G107, G198)", async () => {
  const offerId = await world.addOffer();
  await world.addEvent(offerId, { code: "sale", allow_multiple: true, payout: "2" });
  await world.insert("conversion_rule", {
    workspace_id: world.workspaceId,
    name: "refund",
    action: "reject",
    conditions: { min_sale_amount: "900", offer_ids: [offerId] },
  });
  const click = await world.addClick({ offer_id: offerId });
  const of = { click_id: click.click_id, event: "sale" };
  const first = await world.report({ ...of, amount: "1", status: "approved" });
  const stopped = await world.report({ ...of, amount: "950", txid: "9", status: "pending" });
  expect(statusOf(stopped)).toBe("rejected rule:refund");
  const again = await world.report({ ...of, amount: "1", status: "approved" });
  expect(again.body["conversion_id"]).toBe(first.body["conversion_id"]);
  expect(await world.conversion(stopped.body["conversion_id"])).toMatchObject({
    status: "rejected",
    version: 1,
  });
});

test("a repeat of a duplicate with a status is that duplicate, not another one (#1, G198)", async () => {
  const { params } = await approvedOrder({});
  const other = { ...params, txid: "another order" };
  const duplicate = await world.report(other);
  expect(duplicate.body).toMatchObject({ duplicate: true });
  expect((await world.report(other)).body).toMatchObject({
    conversion_id: duplicate.body["conversion_id"],
    status: "rejected",
    reason: "duplicate",
    duplicate: true,
  });
  expect(
    await world.rows("select id from conversion where click_id = $1", [params["click_id"]]),
  ).toHaveLength(2);
});

test("reports without click and order are never taken for repeats (#1, G193, G203)", async () => {
  const offerId = await world.addOffer();
  const sale = { offer_id: String(offerId), aff_id: "PARTNR", amount: "5", status: "approved" };
  const ids = [await world.report(sale), await world.report(sale)].map(
    ({ body }) => body["conversion_id"],
  );
  expect(new Set(ids).size).toBe(2);
});

test("a postback that repeats a pixel changes nothing (#1, G159, G198)", async () => {
  const offerId = await world.addOffer(FULL);
  const click = await world.addClick({ offer_id: offerId });
  const params = { click_id: click.click_id, txid: "px", status: "approved" };
  const pixel = await world.report({ ...params, js: "1" }, { endpoint: "px" });
  expect(statusOf(pixel)).toBe("rejected cap_exceeded");
  await world.change("update offer set caps = '{}' where id = $1", [offerId]);
  const reply = await world.report(params);
  expect(reply.body["conversion_id"]).toBe(pixel.body["conversion_id"]);
  expect(statusOf(reply)).toBe("rejected cap_exceeded");
});

test("an approval by update counts in the current caps, and a full cap refuses it (#1, G198)", async () => {
  const offerId = await world.addOffer({ caps: { conversions: { total: 1 } } });
  const send = async (txid: string, more: Params): Promise<PostbackReply> =>
    await world.report({ offer_id: String(offerId), aff_id: "PARTNR", txid, ...more });
  const rejected = await send("one", { status: "rejected" });
  const dryRun = await send("one", { status: "approved", test: "1" });
  expect(statusOf(dryRun)).toBe("approved postback_update");
  expect(await used(offerId)).toBe("0.0000");
  expect(statusOf(await send("one", { status: "approved" }))).toBe("approved postback_update");
  expect(await used(offerId)).toBe("1.0000");
  const second = await send("two", {});
  expect(statusOf(second)).toBe("rejected cap_exceeded");
  const refused = await send("two", { status: "approved" });
  expect(refused.body).toMatchObject({ ok: true, updated: true, status: "rejected" });
  expect(statusOf(refused)).toBe("rejected cap_exceeded");
  expect(await world.conversion(second.body["conversion_id"])).toMatchObject({ version: 1 });
  // Rejected and approved again, it still counts once.
  await send("one", { status: "rejected", amount: "1" });
  expect(statusOf(await send("one", { status: "approved", amount: "1" }))).toBe(
    "approved postback_update",
  );
  expect(await used(offerId)).toBe("1.0000");
  expect(await world.conversion(rejected.body["conversion_id"])).toMatchObject({
    status: "approved",
  });
  // When the cap has room, the refused update may be sent again; pending counts, too.
  await world.change("update offer set caps = $2 where id = $1", [
    offerId,
    JSON.stringify({ conversions: { total: 2 } }),
  ]);
  expect(statusOf(await send("two", { status: "pending" }))).toBe("pending postback_update");
  expect(statusOf(await send("two", { status: "approved" }))).toBe("approved postback_update");
  expect(await used(offerId)).toBe("2.0000");
});

test("64 concurrent updates approve exactly as many as the cap allows (#1, G198, P17)", async () => {
  const offerId = await world.addOffer({ caps: { conversions: { total: 10 } } });
  const orders = Array.from({ length: 32 }, (_, i) => String(i));
  const send = async (txid: string, status: string): Promise<PostbackReply> =>
    await world.report({ offer_id: String(offerId), aff_id: "PARTNR", txid, status });
  await Promise.all(orders.map((txid) => send(txid, "rejected")));
  const replies = await Promise.all([...orders, ...orders].map((txid) => send(txid, "approved")));
  const counts = new Map<string, number>();
  for (const reply of replies) counts.set(statusOf(reply), (counts.get(statusOf(reply)) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toEqual({
    "approved postback_update": 20,
    "rejected cap_exceeded": 44,
  });
  expect(await used(offerId)).toBe("10.0000");
  const [database] = await world.rows(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  expect(database?.["deadlocks"]).toBe(0);
});

test("`approved` repeated with another amount changes the money and ends no hold (#1, G198)", async () => {
  const settings = { payout_type: "cps", payout: "10", hold_days: "3" };
  const { id, params } = await approvedOrder(settings, { amount: "100" });
  expect(statusOf(await world.report({ ...params, amount: "60" }))).toContain("pending");
  const held = await world.conversion(id);
  expect(held).toMatchObject({ status: "pending", payout: "6.0000" });
  expect(held["hold_until"]).not.toBeNull();
  const named = await world.report({ conversion_id: id, status: "approved" });
  expect(statusOf(named)).toBe("approved postback_update");
});

test("`approved` ends the hold of a conversion reported without it (#1, LIFE-041, G198)", async () => {
  const offerId = await world.addOffer({ hold_days: "3" });
  const click = await world.addClick({ offer_id: offerId });
  const params = { click_id: click.click_id, txid: "held" };
  expect(statusOf(await world.report(params))).toBe("pending hold");
  expect(statusOf(await world.report({ ...params, status: "approved" }))).toBe(
    "approved postback_update",
  );
});

test("a stopped row that is older than fingerprints is approved by its id only (#1, G198)", async () => {
  const { id, offerId, params } = await approvedOrder(FULL);
  await world.change("update offer set caps = '{}' where id = $1", [offerId]);
  await world.change(
    "update conversion set report_fingerprint = null, asked_status = null where id = $1",
    [id],
  );
  expect(statusOf(await world.report(params))).toBe("rejected cap_exceeded");
  expect(statusOf(await world.report({ conversion_id: id, status: "approved" }))).toBe(
    "approved postback_update",
  );
});

test("erasure and retention clear fingerprints, and a repeat still changes nothing (#1, G198, G207)", async () => {
  const none = { report_fingerprint: null, change_fingerprint: null };
  const erased = await approvedOrder({ hold_days: "3" }, { email: "person@shop.example" });
  expect(await world.conversion(erased.id)).not.toMatchObject(none);
  await eraseConversions(world.pool, [erased.id]);
  expect(await world.conversion(erased.id)).toMatchObject(none);
  expect(statusOf(await world.report(erased.params))).toBe("pending hold");
  const old = await approvedOrder({ hold_days: "3" });
  await world.rows("update conversion set conv_ts = now() - interval '9 days' where id = $1", [
    old.id,
  ]);
  await world.rows("select forget_visitors_of_conversions(8, 100)");
  expect(await world.conversion(old.id)).toMatchObject(none);
});

test("64 concurrent equal reports with a status make one conversion and do not change it (#1, P16)", async () => {
  const offerId = await world.addOffer(FULL);
  const click = await world.addClick({ offer_id: offerId });
  const params = { click_id: click.click_id, txid: "all at once", status: "approved" };
  const replies = await Promise.all(Array.from({ length: 64 }, () => world.report(params)));
  expect(new Set(replies.map(({ body }) => body["conversion_id"])).size).toBe(1);
  expect(new Set(replies.map(statusOf))).toEqual(new Set(["rejected cap_exceeded"]));
  expect(await world.rows("select version from conversion where offer_id = $1", [offerId])).toEqual(
    [{ version: 1 }],
  );
});

test("facts contain no fingerprint (#1, G198)", async () => {
  const columns = await world.clickhouse.query({
    query:
      "select name from system.columns where database = currentDatabase() and name like '%fingerprint%'",
    format: "JSONEachRow",
  });
  expect(await columns.json()).toEqual([]);
});
