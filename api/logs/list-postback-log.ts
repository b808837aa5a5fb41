import { z } from "zod";
import { echoRange } from "../../schemas/time/range.ts";
import { staff } from "../access/access-of-operations.ts";
import { shownSchema, showTo } from "../access/visibility.ts";
import { type Operation, operation } from "../operation.ts";
import { rangeEcho } from "../reports/report-params.ts";
import { shownTime } from "../rest/body-fields.ts";
import { openPage } from "../rest/page.ts";
import { rangeOfPage } from "../rest/page-range.ts";
import {
  clickIdParam,
  pageParams,
  rangeParams,
  textParam,
  uuidParam,
} from "../rest/query-fields.ts";
import { listPostbackLog as listRows } from "./logs.ts";

const DAYS_MAX = 93;

const ShownEntry = shownSchema("postback_log_entry", {
  id: z.int(),
  ts: shownTime,
  endpoint: z.string(),
  ip: z.string().nullable(),
  token_owner: z.string(),
  params: z.record(z.string(), z.unknown()).meta({ description: "As sent, the token masked" }),
  http_status: z.int(),
  result: z.string(),
  conversion_id: z.string().nullable(),
  click_id: z.string().nullable(),
  message: z.string(),
}).meta({ id: "PostbackLogEntry" });

export const listPostbackLog: Operation = operation({
  name: "listPostbackLog",
  method: "GET",
  path: "/postback-log",
  tag: "Management",
  summary:
    "Inbound postbacks, pixels and landing calls with their results, newest first; kept 30 days",
  access: staff("conversions.read"),
  input: {
    query: z.object({
      ...rangeParams,
      ...pageParams,
      result: textParam.meta({ description: "Result code, such as unknown_click" }),
      click_id: clickIdParam,
      conversion_id: uuidParam,
    }),
  },
  output: z.object({
    data: z.array(ShownEntry),
    next_cursor: z.string().nullable(),
    range: rangeEcho,
  }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listPostbackLog", query);
    const range = rangeOfPage(context, query, page, { defaultPreset: "last7", daysMax: DAYS_MAX });
    const { fromMs, toMs } = range;
    const rows = await listRows(context.db, context.workspace.id, { ...page, fromMs, toMs });
    const shown = page.close(rows, {
      positionOf: (row) => ({ at: row.ts, id: String(row.id) }),
      show: (row) => showTo(context.principal.role, "postback_log_entry", row),
      range: { fromMs, toMs, tz: range.zone.name },
    });
    return { body: { ...shown, range: echoRange(range) } };
  },
});
