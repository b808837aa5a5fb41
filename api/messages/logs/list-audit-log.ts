import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { shownSchema } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { idParam, textParam } from "../../http/query-fields.ts";
import type { Operation } from "../../operation/operation.ts";
import { logOperation } from "./log-operation.ts";
import { listAuditLog as list } from "./logs.ts";

const ShownEntry = shownSchema("audit_log_entry", {
  id: z.int(),
  ts: shownTime,
  key_id: z.int().nullable(),
  user: z.string().meta({ description: "Name of the key or of the person, or `command line`" }),
  action: z
    .string()
    .meta({ examples: ["rest POST /api/v1/offers", "mcp:run_report", "person:signed-in"] }),
  ip: z.string().nullable(),
  status: z.int(),
  request_id: z.string(),
  person_id: z
    .int()
    .nullable()
    .meta({ description: "The person who acted through a session; null for a key" }),
}).meta({ id: "AuditLogEntry" });

export const listAuditLog: Operation = logOperation({
  name: "listAuditLog",
  path: "/audit-log",
  summary: "List the audit log",
  description:
    "Writes and MCP calls of the workspace, including refused ones, newest first. Kept 400 days.",
  access: staff("audit.read"),
  filters: {
    key_id: idParam,
    person_id: idParam.meta({ description: "Id of the person who acted through a session" }),
    action: textParam.meta({ description: "Contained in the action, such as POST or /offers" }),
  },
  daysMax: 400,
  resource: "audit_log_entry",
  Shown: ShownEntry,
  list: async ({ db, workspace }, page) => await list(db, workspace.id, page),
});
