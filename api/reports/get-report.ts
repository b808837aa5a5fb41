import { z } from "zod";
import { everyRole } from "../access/access-of-operations.ts";
import { shownCurrency } from "../fields/body-fields.ts";
import { csvAnswer } from "../http/list-csv.ts";
import { bomParam, rangeEcho } from "../http/query-fields.ts";
import { type Operation, operation } from "../operation/operation.ts";
import { reportCaller, reportScope } from "./caller.ts";
import { reportCsv } from "./report-csv.ts";
import { comparedEcho, conversionEcho, reportCells, reportParams } from "./report-params.ts";
import { parseReportRequest } from "./report-request.ts";
import { runReport } from "./run-report.ts";

const Report = z.object({
  data: z.array(reportCells),
  totals: reportCells,
  columns: z.array(
    z.object({
      key: z.string(),
      label: z.string(),
      kind: z.enum(["dimension", "metric"]),
      format: z.enum(["entity", "date", "number", "money"]),
    }),
  ),
  total_rows: z.int(),
  next_offset: z.int().nullable(),
  currency: shownCurrency,
  other_currencies: z.array(shownCurrency),
  range: rangeEcho,
  group_by: z.array(z.string()),
  metrics: z.array(z.string()),
  date_basis: z.enum(["conversion", "click"]),
  compared_range: comparedEcho,
  conversion: conversionEcho,
});

export const getReport: Operation = operation({
  name: "getReport",
  method: "GET",
  path: "/reports",
  tag: "Reports",
  summary: "Get a report",
  description:
    "Sums over clicks, impressions and conversions. Groups by up to three dimensions; totals cover the whole report. Money counts amounts in `currency` only, counts cover " +
    "every currency. Filters on `event`, `status` and `method` apply to conversions only, filters on attributes of clicks " +
    "apply to clicks only.",
  access: everyRole("reports.read"),
  input: { query: z.object({ ...reportParams, bom: bomParam }) },
  output: Report,
  status: 200,
  readsClickhouse: "reports",
  otherMediaTypes: ["text/csv"],
  run: async (context, { query }) => {
    const request = parseReportRequest(
      { ...query, filters: query.filters === undefined ? [] : [query.filters] },
      reportCaller(context),
    );
    const scope = reportScope(context.principal);
    if (request.format === "json") return { body: await runReport(context, request, scope) };
    return await csvAnswer(reportCsv(context, request, scope), {
      name: "report.csv",
      bom: query["bom"],
    });
  },
});
