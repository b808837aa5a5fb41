import { z } from "zod";
import { echoRange } from "../../schemas/time/range.ts";
import { everyRole } from "../access/access-of-operations.ts";
import { isStaff, type Principal } from "../access/principal.ts";
import { invalidParameter } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { openPage } from "../rest/page.ts";
import { rangeOfPage } from "../rest/page-range.ts";
import {
  clickIdParam,
  cursorParam,
  idParam,
  limitParam,
  rangeParams,
  textParam,
  wordParam,
} from "../rest/query-fields.ts";
import { CONVERSION_METHODS, CONVERSION_STATUSES, ShownConversion } from "./conversion-fields.ts";
import { listConversions as listRows } from "./conversions.ts";
import { showConversion } from "./show-conversion.ts";

const RANGE_DAYS_MAX = 400;

const Query = z.object({
  ...rangeParams,
  limit: limitParam(100, 500),
  cursor: cursorParam,
  status: wordParam(...CONVERSION_STATUSES),
  event: textParam.meta({ description: "Event code" }),
  click_id: clickIdParam,
  offer_id: idParam,
  affiliate_id: idParam.meta({ description: "Staff keys only" }),
  method: wordParam(...CONVERSION_METHODS),
  adv_txid: textParam.meta({ description: "Staff and advertiser keys only" }),
  smart_link_id: idParam.meta({ description: "Staff keys only" }),
});
type Query = z.infer<typeof Query>;

export const listConversions: Operation = operation({
  name: "listConversions",
  method: "GET",
  path: "/conversions",
  tag: "Conversions",
  summary: "List conversions",
  description: "By conversion time, newest first. Without a range, those of the last 7 days.",
  access: everyRole("conversions.read"),
  input: { query: Query },
  output: z.object({
    data: z.array(ShownConversion),
    next_cursor: z.string().nullable(),
    range: z.object({ from: z.string(), to: z.string(), tz: z.string() }),
  }),
  status: 200,
  run: async (context, { query }) => {
    const { principal, db } = context;
    refuseHiddenFilters(principal, query);
    const page = openPage(context, "listConversions", query);
    const range = rangeOfPage(context, query, page, {
      defaultPreset: "last7",
      daysMax: RANGE_DAYS_MAX,
    });
    const rows = await listRows(db, principal, { ...page, fromMs: range.fromMs, toMs: range.toMs });
    const shown = page.close(rows, {
      positionOf: (row) => ({ at: row.conv_ts, id: row.id }),
      show: (row) => showConversion(principal.role, row),
      range: { fromMs: range.fromMs, toMs: range.toMs, tz: range.zone.name },
    });
    return { body: { ...shown, range: echoRange(range) } };
  },
});

/** Refuses a filter on a field that the key cannot see, because the result would reveal its values (G81, VIS-059). */
function refuseHiddenFilters({ role }: Principal, query: Query): void {
  for (const param of ["affiliate_id", "smart_link_id"] as const) {
    if (query[param] !== undefined && !isStaff(role))
      throw invalidParameter(param, "for staff keys only");
  }
  if (query.adv_txid !== undefined && role === "partner") {
    throw invalidParameter("adv_txid", "not for partner keys");
  }
}
