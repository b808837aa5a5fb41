import { SUB_IDS } from "../../schemas/events/sub-ids.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { FactSource } from "./fact-source.ts";

/** Conversions, for reports. */
export const conversionFacts: FactSource = {
  table: "conversion_fact",
  reference: "conversion_id",
  readRows: async (db, ids) => (await readConversions(db, ids)).map(factRow),
};

/** A conversion in the form of the table `conversion_fact`: numbers, text, and money as decimal text. */
type ConversionFact = {
  readonly id: string;
  readonly workspace_id: number;
  readonly conv_ts: string;
  readonly version: number;
  readonly click: Readonly<Record<string, string>>;
  readonly [column: string]: unknown;
};

/** Columns of `conversion_fact` that a conversion has from its click. */
const CLICK_COLUMNS = [
  "country",
  "region",
  "city",
  "device_type",
  "os",
  "browser",
  "traffic_source",
  "source_id",
  ...SUB_IDS,
  "ext_campaign_id",
  "ext_adgroup_id",
  "ext_ad_id",
  "ext_keyword",
  "ext_placement",
  "link_type",
  "domain",
] as const;

async function readConversions(db: Queryable, ids: readonly string[]): Promise<ConversionFact[]> {
  const { rows } = await db.query<ConversionFact>({
    name: "read-conversion-facts",
    text: `select workspace_id, conv_ts, id, version, coalesce(click_id, '') as click_id, click_ts, offer_id,
             coalesce(affiliate_id, 0) as affiliate_id, advertiser_id, coalesce(smart_link_id, 0) as smart_link_id,
             event_code, is_private, status, status_reason, is_duplicate, revenue, payout, sale_amount, currency, method,
             click
           from conversion where id = any($1::uuid[])`,
    values: [ids],
  });
  return rows;
}

/** The row for ClickHouse, from a row of Postgres. */
function factRow(fact: ConversionFact): Record<string, unknown> {
  const { click, conv_ts, click_ts, ...columns } = fact;
  return {
    ...columns,
    conv_ts: clickhouseTime(conv_ts),
    click_ts: typeof click_ts === "string" ? clickhouseTime(click_ts) : null,
    ...Object.fromEntries(CLICK_COLUMNS.map((column) => [column, click[column] ?? ""])),
  };
}

/** `2026-01-31T10:00:00.123Z` in the form that ClickHouse parses without guessing: `2026-01-31 10:00:00.123`. */
function clickhouseTime(iso: string): string {
  return iso.replace("T", " ").replace("Z", "");
}
