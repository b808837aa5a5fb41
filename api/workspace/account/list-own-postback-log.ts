import { z } from "zod";
import { advertiserOnly } from "../../access/access-of-operations.ts";
import { shownSchema } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { clickIdParam, textParam, uuidParam } from "../../http/query-fields.ts";
import { logOperation } from "../../messages/logs/log-operation.ts";
import { listCallsOfAdvertiser } from "../../messages/logs/logs.ts";
import type { Operation } from "../../operation/operation.ts";
import { advertiserIdOf } from "./own-token-operations.ts";
import { paramsForAdvertiser } from "./params-for-advertiser.ts";

const ShownCall = shownSchema("own_call", {
  id: z.int(),
  ts: shownTime,
  endpoint: z.string(),
  ip: z.string().nullable(),
  token_owner: z.string(),
  params: z.record(z.string(), z.string()),
  http_status: z.int(),
  result: z.string(),
  conversion_id: z.string().nullable(),
  click_id: z.string().nullable(),
  message: z.string(),
  request_id: z.string().nullable(),
}).meta({ id: "OwnCall" });

export const listOwnPostbackLog: Operation = logOperation({
  name: "listOwnPostbackLog",
  path: "/me/postback-log",
  tag: "Account",
  summary: "List own inbound postbacks",
  description:
    "Postbacks, pixels and landing calls with the advertiser's token or about its offers, newest first. Kept 30 days.",
  access: advertiserOnly("conversions.read"),
  filters: {
    result: textParam.meta({ description: "Result code, such as unknown_click" }),
    click_id: clickIdParam,
    conversion_id: uuidParam,
  },
  daysMax: 93,
  resource: "own_call",
  Shown: ShownCall,
  list: async (context, page) => {
    const owner = { workspaceId: context.workspace.id, advertiserId: advertiserIdOf(context) };
    const rows = await listCallsOfAdvertiser(context.db, owner, page);
    return rows.map((row) => ({ ...row, params: paramsForAdvertiser(row.params) }));
  },
});
