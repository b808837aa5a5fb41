import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { shownSchema } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { clickIdParam, textParam, uuidParam } from "../../http/query-fields.ts";
import type { Operation } from "../../operation/operation.ts";
import { logOperation } from "./log-operation.ts";
import { listPostbackLog as list } from "./logs.ts";

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
  request_id: z.string().nullable(),
}).meta({ id: "PostbackLogEntry" });

export const listPostbackLog: Operation = logOperation({
  name: "listPostbackLog",
  path: "/postback-log",
  summary: "List inbound postbacks",
  description:
    "Postbacks, pixels and landing calls with their results, newest first. Kept 30 days.",
  access: staff("conversions.read"),
  filters: {
    result: textParam.meta({ description: "Result code, such as unknown_click" }),
    click_id: clickIdParam,
    conversion_id: uuidParam,
  },
  daysMax: 93,
  resource: "postback_log_entry",
  Shown: ShownEntry,
  list: async ({ db, workspace }, page) => await list(db, workspace.id, page),
});
