import { z } from "zod";
import { everyRole } from "../access/access-of-operations.ts";
import { shownReference } from "../http/path-fields.ts";
import { rangeEcho } from "../http/query-fields.ts";
import { type Operation, operation } from "../operation/operation.ts";
import { reportCaller, reportScope } from "./caller.ts";
import {
  comparedEcho,
  conversionEcho,
  measuredParams,
  param,
  reportCells,
  withTotals,
} from "./report-params.ts";
import { parseTimeseriesRequest, runTimeseries } from "./run-timeseries.ts";

export const getTimeseries: Operation = operation({
  name: "getTimeseries",
  method: "GET",
  path: "/reports/timeseries",
  tag: "Reports",
  summary: "Get a time series",
  description:
    "Metrics by day or hour, without gaps. Default range: the last 30 days, or today for hours. An hourly series may be 31 days long.",
  access: everyRole("reports.read"),
  input: {
    query: z.object({
      ...measuredParams,
      interval: param(z.enum(["day", "hour"]).meta({ default: "day" }), "Length of a row"),
      offer_id: param(shownReference, "Id or code"),
      affiliate_id: param(shownReference, "Id or code"),
      totals: withTotals,
    }),
  },
  output: z.object({
    data: z.array(reportCells),
    interval: z.enum(["day", "hour"]),
    metrics: z.array(z.string()),
    range: rangeEcho,
    totals: reportCells.optional().meta({ description: "With `totals=1`" }),
    compared_range: comparedEcho,
    conversion: conversionEcho,
  }),
  status: 200,
  readsClickhouse: "reports",
  run: async (context, { query }) => {
    const request = parseTimeseriesRequest(
      { ...query, filters: query.filters === undefined ? [] : [query.filters] },
      reportCaller(context),
    );
    return { body: await runTimeseries(context, request, reportScope(context.principal)) };
  },
});
