import { z } from "zod";
import {
  CONVERSION_METHODS,
  CONVERSION_STATUSES,
} from "../../../schemas/events/conversion-words.ts";
import { echoRange, type TimeRange } from "../../../schemas/time/range.ts";
import { everyRole } from "../../access/access-of-operations.ts";
import { visibleFields } from "../../access/visibility.ts";
import { csvAnswer, type ListCsv, listCsv } from "../../http/list-csv.ts";
import { sortParam } from "../../http/list-order.ts";
import { openPage } from "../../http/page.ts";
import { rangeOfPage } from "../../http/page-range.ts";
import {
  bomParam,
  booleanParam,
  clickIdParam,
  cursorParam,
  idParam,
  limitParam,
  listFormatParam,
  rangeEcho,
  rangeParams,
  textParam,
  wordParam,
} from "../../http/query-fields.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { isStaff, type Principal } from "../../operation/principal.ts";
import { type CountedRows, countedRows } from "../../reports/counted-rows.ts";
import { listFiltersParam } from "../../reports/report-params.ts";
import { ShownConversion } from "./conversion-fields.ts";
import { type ConversionRow, listConversions as listRows } from "./conversions.ts";
import { type ConversionPlace, countedConversions } from "./counted-conversions.ts";
import { showConversion } from "./show-conversion.ts";

const RANGE_DAYS_MAX = 400;
const MONEY: ReadonlySet<string> = new Set(["revenue", "payout", "sale_amount"]);

const filterParams = {
  status: wordParam(...CONVERSION_STATUSES),
  event: textParam.meta({ description: "Event code" }),
  click_id: clickIdParam,
  offer_id: idParam,
  affiliate_id: idParam.meta({ description: "Staff keys only" }),
  method: wordParam(...CONVERSION_METHODS),
  adv_txid: textParam.meta({ description: "Staff and advertiser keys only" }),
  smart_link_id: idParam.meta({ description: "Staff keys only" }),
  status_reason: textParam.meta({
    description: "The reason of the status; empty for conversions without one",
  }),
  is_duplicate: booleanParam,
  cap_alert: booleanParam.meta({
    description: "Whether a cap with `alert_only` was reached; staff keys only",
  }),
  advertiser_id: idParam.meta({ description: "Not for partner keys" }),
};
const Query = z.object({
  ...rangeParams,
  limit: limitParam(100, 500),
  cursor: cursorParam,
  ...filterParams,
  filters: listFiltersParam,
  date_basis: wordParam("conversion", "click").meta({
    description:
      "With `filters`: dates the range as a report with the same `date_basis`; the order is by conversion time",
  }),
  sort: sortParam("-conv_ts", "conv_ts"),
  format: listFormatParam,
  bom: bomParam,
});
type Query = z.infer<typeof Query>;

export const listConversions: Operation = operation({
  name: "listConversions",
  method: "GET",
  path: "/conversions",
  tag: "Conversions",
  summary: "List conversions",
  description:
    "By conversion time, newest first unless `sort` says otherwise. Without a range, the last 7 days.",
  access: everyRole("conversions.read"),
  input: { query: Query },
  output: z.object({
    data: z.array(ShownConversion),
    next_cursor: z.string().nullable(),
    range: rangeEcho,
  }),
  status: 200,
  otherMediaTypes: ["text/csv"],
  readsClickhouse: ({ filters, format }) =>
    filters !== undefined || format === "csv" ? "reports" : undefined,
  run: async (context, { query }) => {
    const { principal } = context;
    refuseHiddenFilters(principal, query);
    if (query.date_basis !== undefined && query.filters === undefined)
      throw invalidParameter("date_basis", "only with filters");
    const isCsv = query.format === "csv";
    if (isCsv && query.cursor !== undefined) throw invalidParameter("cursor", "a CSV has no pages");
    const page = openPage(context, "listConversions", query);
    const range = rangeOfPage(context, query, page, {
      defaultPreset: "last7",
      daysMax: RANGE_DAYS_MAX,
    });
    const read = await readerOf(context, query, range);
    if (isCsv)
      return await csvAnswer(listCsv(conversionCsv(principal, read)), {
        name: "conversions.csv",
        bom: query.bom,
      });
    const rows = await read(page.after, page.rowsMax);
    const shown = page.close(rows, {
      positionOf: ({ place }) => place,
      show: ({ row }) => showConversion(principal.role, row),
      range: { fromMs: range.fromMs, toMs: range.toMs, tz: range.zone.name },
    });
    return { body: { ...shown, range: echoRange(range) } };
  },
});

type PlacedRow = { readonly place: ConversionPlace; readonly row: ConversionRow };
type ReadRows = (after: ConversionPlace | undefined, rowsMax: number) => Promise<PlacedRow[]>;

/** How the list is read: from the system of record, or with `filters` as reports count. */
async function readerOf(
  context: OperationContext,
  query: Query,
  range: TimeRange,
): Promise<ReadRows> {
  const names = Object.keys(filterParams);
  const filters = Object.fromEntries(
    Object.entries(query).filter(([name]) => names.includes(name)),
  );
  const { db, principal } = context;
  const { sort } = query;
  if (query.filters === undefined)
    return async (after, rowsMax) => {
      const rows = await listRows(db, principal, {
        ...range,
        filters,
        after,
        rowsMax,
        sort,
      });
      return rows.map((row) => ({ place: { at: row.conv_ts, id: row.id }, row }));
    };
  const counted: CountedRows = await countedRows(context, {
    source: "conversion",
    filters: query.filters,
    range,
    dateBasis: query.date_basis ?? "conversion",
  });
  return async (after, rowsMax) =>
    await countedConversions(context, counted, { filters, after, rowsMax, sort });
}

/** The whole list, in pages of its own. */
function conversionCsv({ role }: Principal, read: ReadRows): ListCsv<PlacedRow> {
  return {
    fields: visibleFields("conversion", role),
    numbers: MONEY,
    read: async (after, rowsMax) => await read(after?.place, rowsMax),
    show: (rows) => rows.map(({ row }) => showConversion(role, row)),
  };
}

/** Refuses a filter on a field that the key cannot see, because the result would reveal its values (G81, VIS-059). */
function refuseHiddenFilters({ role, advertiser }: Principal, query: Query): void {
  for (const param of ["affiliate_id", "smart_link_id", "cap_alert"] as const) {
    if (query[param] !== undefined && !isStaff(role))
      throw invalidParameter(param, "for staff keys only");
  }
  for (const param of ["adv_txid", "advertiser_id"] as const) {
    if (query[param] !== undefined && role === "partner")
      throw invalidParameter(param, "not for partner keys");
  }
  if (advertiser !== null && (query.advertiser_id ?? advertiser.id) !== advertiser.id)
    throw invalidParameter("advertiser_id", "not your own account");
}
