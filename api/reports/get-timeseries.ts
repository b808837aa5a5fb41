import { z } from "zod";
import { everyRole } from "../access/access-of-operations.ts";
import { type Operation, operation } from "../operation.ts";
import { reportCaller, reportScope } from "./caller.ts";
import { measuredParams, rangeEcho, reportCells } from "./report-params.ts";
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
      interval: z.string().optional().meta({ description: "`day` (default) or `hour`" }),
      offer_id: z.string().optional().meta({ description: "Id or code" }),
      affiliate_id: z.string().optional().meta({ description: "Id or code" }),
    }),
  },
  output: z.object({
    data: z.array(reportCells),
    interval: z.enum(["day", "hour"]),
    metrics: z.array(z.string()),
    range: rangeEcho,
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
