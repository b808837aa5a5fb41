import { z } from "zod";
import { staff } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { type Operation, operation } from "../operation.ts";
import { openPage } from "../rest/page.ts";
import { idParam, idsParam, pageParams, textParam, wordParam } from "../rest/query-fields.ts";
import { AFFILIATE_STATUSES, ShownAffiliate } from "./affiliate-fields.ts";
import { listAffiliates as listRows } from "./affiliates.ts";

export const listAffiliates: Operation = operation({
  name: "listAffiliates",
  method: "GET",
  path: "/affiliates",
  tag: "Affiliates",
  summary: "Affiliates (partners), newest first",
  access: staff("affiliates.read"),
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...AFFILIATE_STATUSES),
      manager_id: idParam,
      tag: textParam,
      ids: idsParam.meta({ description: "Comma-separated ids" }),
      q: textParam.meta({ description: "Name, company or e-mail contains, or exact code" }),
    }),
  },
  output: z.object({ data: z.array(ShownAffiliate), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { principal, db } = context;
    const page = openPage(context, "listAffiliates", query);
    const { status, manager_id: managerId, tag, ids, q } = query;
    const rows = await listRows(
      db,
      principal.workspace.id,
      { status, managerId, tag, ids, q },
      page,
    );
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "affiliate", row),
      }),
    };
  },
});
