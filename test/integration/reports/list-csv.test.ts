import { describe, expect, test } from "vitest";
import { listClicks } from "../../../api/traffic/clicks/list-clicks.ts";
import { listConversions } from "../../../api/traffic/conversions/list-conversions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick } from "./facts.ts";
import { type Caller, ReportWorld } from "./report-world.ts";

const DAY = { from: "2025-06-01", to: "2025-06-01", tz: "UTC", format: "csv" };
const AT_MS = Date.parse("2025-06-01T10:00:00Z");
const HOSTILE = ["=1+1", "@x", "+y", "-z", 'a"b,c'];
const MANY = 2_500;

const world = await forThisFile(ReportWorld.open());
await world.store({
  clicks: HOSTILE.map((sub1, index) => aClick(world, { sub1, ts: AT_MS - index })),
});

async function lines(
  operation: typeof listClicks,
  query: Record<string, string>,
  caller: Caller = "admin",
): Promise<string[]> {
  return (await world.text(operation, query, caller)).trimEnd().split("\r\n");
}

describe("CSV of clicks", () => {
  test("text that a spreadsheet would execute is text (G77)", async () => {
    const [header = "", ...rows] = await lines(listClicks, DAY);
    const at = header.split(",").indexOf("sub1");
    expect(rows.map((row) => row.split(",")[at])).toEqual(["'=1+1", "'@x", "'+y", "'-z", '"a""b']);
  });

  test("has the fields of the role and no others (VIS-059)", async () => {
    const fields = async (caller: Caller) =>
      (await lines(listClicks, DAY, caller))[0]?.split(",") ?? [];
    expect(await fields("admin")).toContain("is_bot");
    for (const hidden of ["is_bot", "is_datacenter", "destination"])
      expect(await fields("partner")).not.toContain(hidden);
    for (const hidden of ["is_bot", "sub1", "source_id", "affiliate_label", "smart_link_id"])
      expect(await fields("advertiser")).not.toContain(hidden);
  });

  test("an empty list has its header, and a look-up has its rows", async () => {
    expect(await lines(listClicks, { ...DAY, from: "2025-05-01", to: "2025-05-01" })).toHaveLength(
      1,
    );
    await world.store({ clicks: [aClick(world, { ts: AT_MS - 3_600_000, gclid: "one" })] });
    expect(await lines(listClicks, { ...DAY, gclid: "one" })).toHaveLength(2);
  });

  test("has every click of many pages once", async () => {
    const ts = Date.parse("2025-07-01T10:00:00Z");
    await world.store({ clicks: [aClick(world, { source_id: "seed", ts })] });
    await world.clickhouse.command({
      query: `insert into click
              select c.* replace (unhex(leftPad(hex(n.number + 1), 32, '0')) as click_id, 1000000 + n.number as _position)
              from (select * from click where source_id = 'seed') c cross join numbers(${MANY - 1}) n`,
      clickhouse_settings: { wait_end_of_query: 1 },
    });
    const july = { ...DAY, from: "2025-07-01", to: "2025-07-01" };
    for (const query of [july, { ...july, filters: "source_id:in:seed" }]) {
      const [, ...rows] = await lines(listClicks, query);
      expect(rows).toHaveLength(MANY);
      expect(new Set(rows.map((row) => row.split(",")[0])).size).toBe(MANY);
    }
  });
});

describe("CSV of conversions", () => {
  test("has every conversion of many pages once, money as numbers, objects as JSON", async () => {
    const { workspaceId, offerIds, advertiserIds, affiliateIds } = world.seed;
    await world.pool.query({
      text: `insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private, status, revenue,
               payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts, params, holds_click, holds_txid)
             select gen_random_uuid(), $1, $2, $3, $4, 1, 'sale', false, 'approved', 15, 10, 'USD', 'cpa', 0, 'rpa', 0, 's2s',
               '2025-06-01T12:00:00Z', '{"adv1": "=2"}', false, false from generate_series(1, $5::integer)`,
      values: [workspaceId, offerIds[0], affiliateIds[0], advertiserIds[0], MANY],
    });
    const [header = "", ...rows] = await lines(listConversions, DAY);
    expect(rows).toHaveLength(MANY);
    expect(new Set(rows.map((row) => row.split(",")[0])).size).toBe(MANY);
    const at = header.split(",").indexOf("payout");
    expect(rows[0]?.split(",")[at]).toBe("10.0000");
    expect(rows[0]).toContain('"{""adv1"":""=2""}"');
    const partner = (await lines(listConversions, DAY, "partner"))[0];
    expect(partner).not.toMatch(/revenue|advertiser_id|adv_txid|params/);
  });
});
