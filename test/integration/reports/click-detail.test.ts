import { beforeAll, describe, expect, test } from "vitest";
import { SUB_IDS } from "../../../schemas/events/sub-ids.ts";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { AT_MS, ClickListWorld, ids } from "./click-list-world.ts";
import { aClick } from "./facts.ts";
import type { LedgerClick } from "./ledger.ts";
import type { Row } from "./report-world.ts";
import { refusal } from "./small-world.ts";

const clicks = await forThisFile(ClickListWorld.open());

/** Columns of the table that describe the click, without `extra`, which is shown separately. */
async function storedColumns(): Promise<string[]> {
  const answer = await clicks.world.clickhouse.query({
    query: `select name from system.columns where database = currentDatabase() and table = 'click'
              and not startsWith(name, '_') and name not in ('extra', 'inserted_at')`,
    format: "JSONEachRow",
  });
  return (await answer.json<{ name: string }>()).map(({ name }) => name).toSorted();
}

describe("one click", () => {
  let rich: LedgerClick & Row;

  beforeAll(async () => {
    rich = {
      ...aClick(clicks.world, {
        ts: AT_MS - 7_200_000,
        sub1: "s1",
        source_id: "src",
        click_revenue: "0.3000",
        click_payout: "0.1000",
      }),
      ip: "203.0.113.7",
      user_agent: "UA",
      is_proxy: true,
      visitor: 123_456_789,
      extra: '{"foo":"bar"}',
      referrer: "https://partner.example/x",
      as_name: "AS",
    };
    await clicks.world.insertRows("click", [rich]);
    const { workspaceId, offerIds, affiliateIds, advertiserIds } = clicks.world.seed;
    // The last one: staff named the click in a conversion of another partner, or the offer has a new owner.
    for (const [id, isPrivate, owner] of [
      ["00000000-0000-4000-8000-000000000001", false, 0],
      ["00000000-0000-4000-8000-000000000002", true, 0],
      ["00000000-0000-4000-8000-000000000003", false, 1],
    ] as const) {
      await clicks.world.pool.query({
        text: `insert into conversion (id, workspace_id, click_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private,
                 status, revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts, holds_click, holds_txid)
               values ($1, $2, $3, $4, $5, $6, 1, 'sale', $7, 'approved', '15', '10', 'USD', 'cpa', '10', 'rpa', '15', 's2s', $8, false, false)`,
        values: [
          id,
          workspaceId,
          rich.click_id,
          offerIds[0],
          affiliateIds[owner],
          advertiserIds[owner],
          isPrivate,
          new Date(AT_MS).toISOString(),
        ],
      });
    }
  });

  test("staff see everything stored (CLK-022, CLK-023, CLK-024, CLK-025, CLK-026, VIS-048)", async () => {
    const { click, extra, offer, affiliate, conversions } = await clicks.detail(rich.click_id);
    expect(click).toMatchObject({
      click_id: rich.click_id,
      ts: "2025-02-03T08:00:00.000Z",
      ip: "203.0.113.7",
      user_agent: "UA",
      is_proxy: true,
      is_bot: false,
      is_unique: true,
      click_payout: "0.1000",
      click_revenue: "0.3000",
      visitor: 123_456_789,
      sub10: "",
      workspace_id: clicks.world.seed.workspaceId,
    });
    expect(Object.keys(click).toSorted()).toEqual(await storedColumns());
    expect(extra).toEqual({ foo: "bar" });
    expect(offer).toEqual({ id: clicks.world.seed.offerIds[0], label: "Offer 1", sub: "OFFER1" });
    expect(affiliate).toEqual({
      id: clicks.world.seed.affiliateIds[0],
      label: "Affiliate 1",
      sub: "PARTN1",
    });
    expect(conversions).toHaveLength(3);
    expect(Object.keys(conversions[0] ?? {}).toSorted()).toEqual(
      words(`
  id conv_ts event_code status status_reason payout revenue sale_amount currency adv_txid
  method is_duplicate
`).toSorted(),
    );
    expect(conversions[0]).toMatchObject({
      payout: "10.0000",
      revenue: "15.0000",
      conv_ts: "2025-02-03T10:00:00.000Z",
      adv_txid: "",
    });
  });

  test("a partner sees no advertiser, no fraud signs (VIS-038, VIS-039, VIS-041, VIS-029, VIS-058)", async () => {
    const { click, extra, conversions } = await clicks.detail(rich.click_id, "partner");
    for (const name of [
      "destination",
      "ip",
      "user_agent",
      "is_bot",
      "is_datacenter",
      "is_proxy",
      "is_headless",
      "missing_ua",
      "visitor",
      "click_revenue",
      "advertiser_id",
    ]) {
      expect(click).not.toHaveProperty(name);
    }
    expect(click).toMatchObject({ sub1: "s1", click_payout: "0.1000" });
    expect(extra).toEqual({ foo: "bar" });
    expect(conversions).toHaveLength(1);
    for (const name of ["revenue", "adv_txid"]) expect(conversions[0]).not.toHaveProperty(name);
  });

  test("an advertiser sees no partner, no pay (VIS-042, VIS-043, VIS-044, VIS-045, VIS-046, VIS-047, G85)", async () => {
    const { click, extra, affiliate, conversions } = await clicks.detail(
      rich.click_id,
      "advertiser",
    );
    for (const name of [
      ...SUB_IDS,
      "source_id",
      "smart_link_id",
      "ip",
      "user_agent",
      "is_proxy",
      "is_bot",
      "click_payout",
      "referrer",
    ]) {
      expect(click).not.toHaveProperty(name);
    }
    const [id] = clicks.world.seed.affiliateIds;
    expect([extra, affiliate]).toEqual([{}, { id, label: `Partner ${id}`, sub: "" }]);
    expect(conversions).toHaveLength(2);
    expect(conversions[0]).not.toHaveProperty("payout");
  });

  test("conversions of other partners and advertisers are not shown (P30, VIS-030, VIS-036)", async () => {
    const shown = async (caller: "admin" | "partner" | "advertiser") =>
      (await clicks.detail(rich.click_id, caller)).conversions.map(({ id }) => String(id).at(-1));
    expect(await shown("admin")).toEqual(["3", "2", "1"]);
    expect(await shown("partner")).toEqual(["1"]);
    expect(await shown("advertiser")).toEqual(["2", "1"]);
  });

  test("an unknown, malformed or foreign id is not found (CLK-027, CLK-028, VIS-040, G17)", async () => {
    const notFound = ["not_found", undefined];
    expect(await refusal(clicks.detail("0".repeat(32)))).toEqual(notFound);
    expect(await refusal(clicks.detail("xyz"))).toEqual(notFound);
    expect(await refusal(clicks.detail(clicks.elsewhere.click_id))).toEqual(notFound);
    expect(await refusal(clicks.detail(clicks.foreign.click_id, "partner"))).toEqual(notFound);
    expect(await refusal(clicks.detail(clicks.foreign.click_id, "advertiser"))).toEqual(notFound);
    expect(await refusal(clicks.detail(clicks.foreign.click_id.toUpperCase()))).toBe("accepted");
  });

  test("a click without offer and partner, or with deleted ones, is shown (T73)", async () => {
    const bare = aClick(clicks.world, {
      ts: AT_MS - 7_200_000,
      offer_id: 0,
      advertiser_id: 0,
      affiliate_id: 0,
    });
    const gone = aClick(clicks.world, { ts: AT_MS - 7_200_000, offer_id: 999_999 });
    await clicks.world.store({ clicks: [bare, gone] });
    expect(await clicks.detail(bare.click_id)).toMatchObject({
      offer: { id: 0, label: "", sub: "" },
      affiliate: { id: 0, label: "" },
    });
    expect(await clicks.detail(gone.click_id)).toMatchObject({
      offer: { id: 999_999, label: "999999" },
    });
    const { data } = await clicks.list({ offer_id: "999999" });
    expect(data).toMatchObject([{ offer_label: "999999" }]);
  });
});

describe("a click that is not yet in ClickHouse", () => {
  beforeAll(() => {
    clicks.world.nowMs = undefined;
  });

  test("is found by its id and its ad ID, with keys that may see it (G162)", async () => {
    const young = aClick(clicks.world, { ts: Date.now() - 500, gclid: "young" });
    clicks.onTheWay.push(young);
    expect((await clicks.detail(young.click_id)).click).toMatchObject({
      click_id: young.click_id,
      is_unique: true,
    });
    const now = new Date(Date.now() - 60_000).toISOString();
    expect(ids((await clicks.list({ gclid: "young", from: now })).data)).toEqual([young.click_id]);
    const strange = aClick(clicks.world, {
      ts: Date.now() - 500,
      affiliate_id: clicks.world.seed.affiliateIds[1],
      gclid: "young",
    });
    clicks.onTheWay.push(strange);
    expect(await refusal(clicks.detail(strange.click_id, "partner"))).toEqual([
      "not_found",
      undefined,
    ]);
    expect(ids((await clicks.list({ gclid: "young", from: now }, "partner")).data)).toEqual([
      young.click_id,
    ]);
    await clicks.world.store({ clicks: [young] });
    expect(
      ids((await clicks.list({ gclid: "young", from: now }, "partner")).data),
      "once, when both stores have it",
    ).toEqual([young.click_id]);
  });

  test("is in its place among those with its ad ID, across both stores (G162, CLK-012)", async () => {
    const { world } = clicks;
    const now = Date.now();
    const mixed = (n: number): LedgerClick => aClick(world, { ts: now - n * 10, gclid: "mixed" });
    const stored = [3, 1].map(mixed);
    const young = [4, 2, 0].map(mixed);
    const hidden = aClick(world, { ts: now, gclid: "mixed", offer_id: world.seed.offerIds[1] });
    const advertised = { ...hidden, advertiser_id: world.seed.advertiserIds[1] };
    await world.store({ clicks: stored });
    // The first of the stored clicks is also on the way.
    clicks.onTheWay.push(...young, ...stored.slice(0, 1), advertised);
    const expected = [...stored, ...young].toSorted((a, b) => b.ts - a.ts);
    const asked = { gclid: "mixed", ...today(now) };
    const own = await clicks.list(asked, "advertiser");
    expect(ids(own.data)).toEqual(expected.map((click) => click.click_id));
    expect((await clicks.list(asked)).data).toHaveLength(6);
    const few = await clicks.list({ ...asked, limit: "3" }, "advertiser");
    expect(ids(few.data)).toEqual(expected.slice(0, 3).map((click) => click.click_id));
  });

  test("is in no list, which says until when it has every click; by its id it is found (G162, G264)", async () => {
    const { world } = clicks;
    const now = Date.now();
    const stored = aClick(world, { ts: now - 500, sub1: "listed" });
    const young = aClick(world, { ts: now - 100, sub1: "listed" });
    await world.store({ clicks: [stored] });
    clicks.onTheWay.push(young);
    clicks.storedToMs = now - 200;
    const list = async (query: Record<string, string>): Promise<unknown[]> =>
      ids((await clicks.list(query)).data);
    const asked = { sub1: "listed", ...today(now) };
    expect(await list(asked)).toEqual([stored.click_id]);
    expect(await clicks.completeUntil(asked)).toBe(new Date(now - 200).toISOString());
    const past = new Date(now - 400).toISOString();
    expect(await clicks.completeUntil({ ...asked, to: past })).toBe(past);
    const byId = { click_id: young.click_id };
    expect(await list(byId)).toEqual([young.click_id]);
    expect(await list({ ...byId, sub1: "listed", country: "us" })).toEqual([young.click_id]);
    expect(await list({ ...byId, sub1: "other" })).toEqual([]);
    expect(await list({ ...byId, to: past, from: past })).toEqual([]);
    clicks.storedToMs = 0;
    expect(await list(asked)).toEqual([stored.click_id]);
    expect(await clicks.completeUntil(asked)).toBeUndefined();
    clicks.storedToMs = Number.MAX_SAFE_INTEGER;
  });

  test("lookups are 503 only while a writer is behind their range, lists never (G162, G264, P15)", async () => {
    const { completeToMs } = clicks;
    clicks.completeToMs = Date.now() - 60_000;
    try {
      const past = new Date(Date.now() - 61_000).toISOString();
      const from = new Date(Date.now() - 3_600_000).toISOString();
      expect(await refusal(clicks.list({ gclid: "young", from, to: past }))).toBe("accepted");
      expect(await refusal(clicks.list({ gclid: "young", from }))).toEqual([
        "unavailable",
        undefined,
      ]);
      expect(await refusal(clicks.list({ from }))).toBe("accepted");
    } finally {
      clicks.completeToMs = completeToMs;
    }
  });

  test("a missing click is unknown only when every writer is past its time (G162)", async () => {
    const lost = aClick(clicks.world, { ts: Date.now() - 500 }).click_id;
    expect(await refusal(clicks.detail(lost))).toEqual(["not_found", undefined]);
    clicks.completeToMs = Date.now() - 10_000;
    expect(await refusal(clicks.detail(lost))).toEqual(["unavailable", undefined]);
    const made = `${lost.slice(0, -4)}${lost.endsWith("0000") ? "1111" : "0000"}`;
    expect(await refusal(clicks.detail(made)), "an id that this installation did not make").toEqual(
      ["not_found", undefined],
    );
  });
});

function today(nowMs: number): { from: string } {
  return { from: new Date(nowMs - 1_000).toISOString() };
}
