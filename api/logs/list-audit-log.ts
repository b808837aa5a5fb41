import { z } from "zod";
import { echoRange } from "../../schemas/time/range.ts";
import { staff } from "../access/access-of-operations.ts";
import { shownSchema, showTo } from "../access/visibility.ts";
import { type Operation, operation } from "../operation.ts";
import { rangeEcho } from "../reports/report-params.ts";
import { shownTime } from "../rest/body-fields.ts";
import { openPage } from "../rest/page.ts";
import { rangeOfPage } from "../rest/page-range.ts";
import { idParam, pageParams, rangeParams, textParam } from "../rest/query-fields.ts";
import { listAuditLog as listRows } from "./logs.ts";

const DAYS_MAX = 400;

const ShownEntry = shownSchema("audit_log_entry", {
  id: z.int(),
  ts: shownTime,
  key_id: z.int().nullable(),
  user: z.string().meta({ description: "Name of the key, or `command line`" }),
  action: z.string().meta({ examples: ["rest POST /api/v1/offers", "mcp:run_report"] }),
  ip: z.string().nullable(),
  status: z.int(),
  request_id: z.string(),
}).meta({ id: "AuditLogEntry" });

export const listAuditLog: Operation = operation({
  name: "listAuditLog",
  method: "GET",
  path: "/audit-log",
  tag: "Management",
  summary:
    "Writes and MCP calls of the workspace, including refused ones, newest first; kept 400 days",
  access: staff("audit.read"),
  input: {
    query: z.object({
      ...rangeParams,
      ...pageParams,
      key_id: idParam,
      action: textParam.meta({ description: "Contained in the action, such as POST or /offers" }),
    }),
  },
  output: z.object({
    data: z.array(ShownEntry),
    next_cursor: z.string().nullable(),
    range: rangeEcho,
  }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listAuditLog", query);
    const range = rangeOfPage(context, query, page, { defaultPreset: "last7", daysMax: DAYS_MAX });
    const { fromMs, toMs } = range;
    const rows = await listRows(context.db, context.workspace.id, { ...page, fromMs, toMs });
    const shown = page.close(rows, {
      positionOf: (row) => ({ at: row.ts, id: String(row.id) }),
      show: (row) => showTo(context.principal.role, "audit_log_entry", row),
      range: { fromMs, toMs, tz: range.zone.name },
    });
    return { body: { ...shown, range: echoRange(range) } };
  },
});
