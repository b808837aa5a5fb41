import { z } from "zod";
import { readDestination } from "../../../schemas/clickhouse/stored-destination.ts";
import { CLICK_STATUSES, ClickRecord, LINK_TYPES } from "../../../schemas/events/click-record.ts";
import { forEachSubId } from "../../../schemas/events/sub-ids.ts";
import { shownSchema } from "../../access/visibility.ts";
import { VISIBILITY } from "../../access/visibility-table.ts";
import { shownMoney, shownTime } from "../../fields/body-fields.ts";

const CLICK_FIELDS: readonly string[] = VISIBILITY.click.fields;

/** A click as stored: the fields that ingress wrote and fields that the click writer decided. `ts` is UTC ms, money is decimal text. */
export const StoredClick = ClickRecord.omit({ may_be_unique: true }).extend({
  is_unique: z.boolean().default(false),
});
export type StoredClick = z.infer<typeof StoredClick>;
export type ClickColumn = keyof StoredClick;

const perClick = shownSchema("click", {
  click_payout: shownMoney,
  click_revenue: shownMoney,
}).shape;

/**
 * A stored click as it is answered: every column of the visibility table except `extra`, which is a separate field of the answer.
 */
export const ShownClick = shownSchema(
  "click",
  Object.fromEntries(
    Object.entries(answerFields(StoredClick.omit({ extra: true }))).filter(([name]) =>
      CLICK_FIELDS.includes(name),
    ),
  ),
)
  .extend(perClick)
  .meta({ id: "Click" });

/** The fields of an answer with these columns of a click. */
export function answerFields({ shape }: z.ZodObject): z.ZodRawShape {
  const fields: Record<string, z.core.$ZodType> = { ...shape };
  for (const [name, schema] of Object.entries(shape))
    if (schema instanceof z.ZodDefault) fields[name] = schema.unwrap();
  // A stored click of a newer release may have other kinds; the document names this release's kinds.
  const kinds = { link_type: z.enum(LINK_TYPES), status: z.enum(CLICK_STATUSES) };
  for (const [name, kind] of Object.entries(kinds)) if (name in fields) fields[name] = kind;
  return { ...fields, ts: shownTime };
}

/** A row of the list, without its labels. */
export const ListedClick = StoredClick.pick({
  click_id: true,
  ts: true,
  link_type: true,
  status: true,
  status_reason: true,
  offer_id: true,
  affiliate_id: true,
  smart_link_id: true,
  is_unique: true,
  is_bot: true,
  is_datacenter: true,
  country: true,
  city: true,
  device_type: true,
  os: true,
  browser: true,
  traffic_source: true,
  ...forEachSubId(true as const),
  source_id: true,
  gclid: true,
  ext_campaign_id: true,
  ext_keyword: true,
  domain: true,
  destination: true,
});
export type ListedClick = z.infer<typeof ListedClick>;

/** A row of a look-up by an ad-platform id. */
export const FoundClick = StoredClick.pick({
  click_id: true,
  ts: true,
  offer_id: true,
  affiliate_id: true,
  gclid: true,
  gbraid: true,
  wbraid: true,
  traffic_source: true,
  link_type: true,
  domain: true,
});
export type FoundClick = z.infer<typeof FoundClick>;

/** The select list of a row's columns under their own names. */
export function selectList(row: z.ZodObject): string {
  return Object.keys(row.shape).map(selected).join(", ");
}

export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Qualified with the table name, so that a condition uses the column and not the selected alias of the same name. */
function selected(column: string): string {
  switch (column) {
    case "click_id":
      return "lower(hex(click.click_id)) as click_id";
    case "destination":
      return `${readDestination("click.destination", "lower(hex(click.click_id))")} as destination`;
    case "ts":
      return "toUnixTimestamp64Milli(click.ts) as ts";
    case "click_payout":
    case "click_revenue":
      return `toDecimalString(click.${column}, 4) as ${column}`;
    default:
      return `click.${column} as ${column}`;
  }
}
