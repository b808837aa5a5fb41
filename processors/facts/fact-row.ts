import type { ConversionFact } from "./outbox.ts";

/** What a conversion has from its click, column by column of `conversion_fact`. */
const CLICK_COLUMNS = [
  "country",
  "region",
  "city",
  "device_type",
  "os",
  "browser",
  "traffic_source",
  "source_id",
  "sub1",
  "sub2",
  "sub3",
  "sub4",
  "sub5",
  "sub6",
  "sub7",
  "sub8",
  "sub9",
  "sub10",
  "ext_campaign_id",
  "ext_adgroup_id",
  "ext_ad_id",
  "ext_keyword",
  "ext_placement",
  "link_type",
  "domain",
] as const;

/** The row of ClickHouse for a row of Postgres. */
export function factRow(fact: ConversionFact): Record<string, unknown> {
  const { click, conv_ts, click_ts, ...columns } = fact;
  return {
    ...columns,
    conv_ts: clickhouseTime(conv_ts),
    click_ts: typeof click_ts === "string" ? clickhouseTime(click_ts) : null,
    ...Object.fromEntries(CLICK_COLUMNS.map((column) => [column, click[column] ?? ""])),
  };
}

/** `2026-01-31T10:00:00.123Z` as ClickHouse reads it without guessing: `2026-01-31 10:00:00.123`. */
function clickhouseTime(iso: string): string {
  return iso.replace("T", " ").replace("Z", "");
}
