import { describe, expect, test } from "vitest";
import { z } from "zod";
import { dimensionNames } from "../../../../api/reports/dimensions.ts";
import { getReport } from "../../../../api/reports/get-report.ts";
import { listClicks } from "../../../../api/traffic/clicks/list-clicks.ts";
import { listConversions } from "../../../../api/traffic/conversions/list-conversions.ts";
import { type LedgerConversion, makeLedger } from "../../../integration/reports/ledger.ts";
import type { Role } from "../../../integration/reports/recount-sums.ts";
import { units } from "../../../integration/reports/recounted-costs.ts";
import {
  type Caller,
  ReportWorld,
  type Row,
  rowsOf,
} from "../../../integration/reports/report-world.ts";
import { refusal } from "../../../integration/reports/small-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { randomOf, SEED } from "../../../system/seed.ts";

/** A click or a conversion a minute, over days on which clocks change in Berlin. */
const FROM_MS = Date.UTC(2025, 2, 27);
const TO_MS = Date.UTC(2025, 3, 9);
const RANGE = { from: "2025-03-28", to: "2025-04-05", tz: "Europe/Berlin" };
const CALLERS: Readonly<Record<Role, Caller>> = {
  staff: "analyst",
  partner: "partner",
  advertiser: "advertiser",
};
const DIMENSIONS_EACH = 9;
const ROWS_EACH = 2;

const world = await forThisFile(ReportWorld.open());
const random = randomOf(SEED);
const made = makeLedger({
  ...world.seed,
  random,
  fromMs: FROM_MS,
  toMs: TO_MS,
  size: 900,
  newClickId: (atMs) => world.mint.mint(atMs, 0),
});
const conversions = made.conversions.filter(
  (one) => one.offer_id !== 0 && one.workspace_id === world.seed.workspaceId,
);
await world.store({ ...made, conversions });
await recordConversions(conversions);

/** The same conversions in the system of record. */
async function recordConversions(rows: readonly LedgerConversion[]): Promise<void> {
  const records = rows.map((row) => ({
    ...row,
    affiliate_id: row.affiliate_id === 0 ? null : row.affiliate_id,
    smart_link_id: row.smart_link_id === 0 ? null : row.smart_link_id,
    conv_ts: new Date(row.conv_ts).toISOString(),
    click_ts: row.click_ts === null ? null : new Date(row.click_ts).toISOString(),
    click: { country: row.country, sub1: row.sub1, sub2: row.sub2, source_id: row.source_id },
  }));
  await world.pool.query({
    text: `insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, smart_link_id, event_id, event_code, is_private,
             status, status_reason, is_duplicate, revenue, payout, sale_amount, currency, payout_type, payout_rate, revenue_type,
             revenue_rate, method, click_ts, conv_ts, click, holds_click, holds_txid)
           select id, workspace_id, offer_id, affiliate_id, advertiser_id, smart_link_id, 1, event_code, is_private,
             status, status_reason, is_duplicate, revenue, payout, sale_amount, currency, 'cpa', 0, 'rpa',
             0, method, click_ts, conv_ts, click, false, false
           from jsonb_to_recordset($1) as r(id uuid, workspace_id integer, offer_id integer, affiliate_id integer, advertiser_id integer,
             smart_link_id integer, event_code text, is_private boolean, status text, status_reason text, is_duplicate boolean,
             revenue numeric, payout numeric, sale_amount numeric, currency text, method text, click_ts timestamptz, conv_ts timestamptz,
             click jsonb)`,
    values: [JSON.stringify(records)],
  });
}

/** All rows of a list, page by page. */
async function all(
  operation: typeof listClicks,
  query: Readonly<Record<string, string>>,
  caller: Caller,
): Promise<Row[]> {
  const found: Row[] = [];
  let cursor: string | undefined;
  do {
    const page: Row = await world.get(
      operation,
      { ...query, limit: "100", ...(cursor === undefined ? {} : { cursor }) },
      { caller },
    );
    found.push(...rowsOf(page["data"]));
    cursor = z.string().nullable().parse(page["next_cursor"]) ?? undefined;
  } while (cursor !== undefined && found.length < 10_000);
  return found;
}

/** The filter that selects the rows of a cell. */
function termOf(dimension: string, value: unknown): string {
  // Midnight is a value of its own.
  if (value === "" || (value === 0 && dimension !== "hour_of_day")) return `${dimension}:empty`;
  return `${dimension}:in:${encodeURIComponent(String(value))}`;
}

function sum(rows: readonly Row[], field: string): bigint {
  return rows.reduce((total, row) => total + units(String(row[field])), 0n);
}

function pickSome<T>(from: readonly T[], count: number): T[] {
  return Array.from({ length: Math.min(count, from.length) }, () => {
    const found = from[Math.floor(random() * from.length)];
    if (found === undefined) throw new Error("nothing to pick from");
    return found;
  });
}

describe.each(["staff", "partner", "advertiser"] as const)("as %s", (role) => {
  const caller = CALLERS[role];
  const money = role === "advertiser" ? "revenue" : "payout";

  test("the rows behind a cell are as many as it says, and have its money (N105, P13)", async () => {
    for (const dimension of pickSome(dimensionNames(role), DIMENSIONS_EACH)) {
      for (const date_basis of ["conversion", "click"] as const) {
        const query = { ...RANGE, filters: "country:not_in:IN", date_basis };
        const report = await world.get(
          getReport,
          {
            ...query,
            group_by: dimension,
            metrics: `clicks,conversions,${money}`,
            currency: "USD",
          },
          { caller },
        );
        for (const row of pickSome(rowsOf(report["data"]), ROWS_EACH)) {
          // A dimension of only one kind of row gives cells without rows of the other kind.
          const filters = `${query.filters},${termOf(dimension, row[dimension])}`;
          const title = `${filters} ${date_basis}`;
          const clicks = await all(listClicks, { ...RANGE, filters }, caller);
          const approved = await all(
            listConversions,
            { ...RANGE, filters: `${filters},status:in:approved`, date_basis },
            caller,
          );
          // The list of clicks may have rows where the cell counts conversions only.
          const counted = row["clicks"] === 0 ? [] : clicks;
          expect(counted, title).toHaveLength(Number(row["clicks"]));
          if (row["conversions"] === 0) continue;
          expect(approved, title).toHaveLength(Number(row["conversions"]));
          // A row that names a currency has its own money (G236).
          const currency = dimension === "currency" ? row[dimension] : "USD";
          const own = approved.filter((one) => one["currency"] === currency);
          const ofClicks = sum(
            (row["clicks"] === 0 ? [] : made.clicks).filter((click) =>
              clicks.some(
                ({ click_id }) => click_id === click.click_id && click.currency === currency,
              ),
            ),
            `click_${money}`,
          );
          expect(sum(own, money) + ofClicks, title).toBe(units(String(row[money])));
        }
      }
    }
  }, 120_000);

  test("pages and CSV of such a list have the same rows in the same order", async () => {
    const query = { ...RANGE, filters: "country:in:DE|US" };
    for (const [operation, key] of [
      [listClicks, "click_id"],
      [listConversions, "id"],
    ] as const) {
      const pages = await all(operation, query, caller);
      const text = await world.text(operation, { ...query, format: "csv" }, caller);
      const [header = "", ...lines] = text.trimEnd().split("\r\n");
      expect(header.split(",")).toEqual(Object.keys(pages[0] ?? {}));
      const at = header.split(",").indexOf(key);
      expect(pages.length).toBeGreaterThan(0);
      expect(lines.map((line) => line.split(",")[at])).toEqual(pages.map((row) => row[key]));
    }
  });
});

describe("filters of lists", () => {
  test("add to the list's own parameters, and hide nothing that the list shows without them", async () => {
    const [offer] = world.seed.offerIds;
    const own = await all(listConversions, { ...RANGE, filters: `offer:in:${offer}` }, "admin");
    const same = await all(listConversions, { ...RANGE, offer_id: String(offer) }, "admin");
    expect(own).toEqual(same);
    const status = { status: "pending", filters: `offer:in:${offer}` };
    expect(await all(listConversions, { ...RANGE, ...status }, "admin")).toEqual(
      same.filter((row) => row["status"] === "pending"),
    );
    const clicks = await all(listClicks, { ...RANGE, offer_id: String(offer) }, "admin");
    expect(
      await all(listClicks, { ...RANGE, offer_id: String(offer), filters: "" }, "admin"),
    ).toEqual(clicks.filter((row) => row["status"] !== "blocked"));
  });

  test.each([
    [listClicks, "admin", { filters: "nothing:in:1" }, "filters"],
    [listClicks, "partner", { filters: "advertiser:in:1" }, "filters"],
    [listClicks, "advertiser", { filters: "sub1:in:x" }, "filters"],
    [listConversions, "partner", { filters: "advertiser:in:1" }, "filters"],
    [listConversions, "advertiser", { filters: "manager:in:1" }, "filters"],
    [listConversions, "admin", { filters: "offer:in:NOSUCH" }, "filters"],
    [listConversions, "admin", { filters: "country:in:DE", adv_txid: "x" }, "adv_txid"],
    [listConversions, "admin", { date_basis: "click" }, "date_basis"],
    [listConversions, "admin", { format: "xls" }, "format"],
    [listClicks, "admin", { format: "csv", cursor: "x" }, "cursor"],
    [listClicks, "admin", { gclid: "x", filters: "country:in:DE" }, "filters"],
    [
      listClicks,
      "admin",
      { filters: "country:in:DE", from: "2025-03-01", to: "2025-04-01" },
      "from",
    ],
    [
      listConversions,
      "admin",
      { filters: "country:in:DE", from: "2025-03-01", to: "2025-04-01" },
      "from",
    ],
  ] as const)("%o as %s with %o is refused", async (operation, caller, query, param) => {
    expect(await refusal(world.get(operation, { ...RANGE, ...query }, { caller }))).toEqual([
      "invalid_parameter",
      param,
    ]);
  });

  test("conversions of named offers may be listed for as long as without filters", async () => {
    const [offer] = world.seed.offerIds;
    const year = { from: "2025-01-01", to: "2025-12-31", filters: `offer:in:${offer}` };
    expect(await refusal(world.get(listConversions, year))).toBe("accepted");
  });
});
