import { z } from "zod";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { openPage } from "../../http/page.ts";
import { idParam, pageParams } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { ShownKey } from "./key-fields.ts";
import { listKeys as listRows, presentKey } from "./keys.ts";

export const listKeys: Operation = operation({
  name: "listKeys",
  method: "GET",
  path: "/keys",
  tag: "Management",
  summary: "List API keys",
  description: "Newest first, including revoked ones.",
  access: unrestrictedStaff,
  input: { query: z.object({ ...pageParams, affiliate_id: idParam, advertiser_id: idParam }) },
  output: z.object({ data: z.array(ShownKey), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listKeys", query);
    const rows = await listRows(context.db, context.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "key", presentKey(row)),
      }),
    };
  },
});
