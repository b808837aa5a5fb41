import { z } from "zod";
import { staff } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { type Operation, operation } from "../operation.ts";
import { openPage } from "../rest/page.ts";
import { idsParam, pageParams, textParam, wordParam } from "../rest/query-fields.ts";
import { ADVERTISER_STATUSES, ShownAdvertiser } from "./advertiser-fields.ts";
import { listAdvertisers as listRows } from "./advertisers.ts";

export const listAdvertisers: Operation = operation({
  name: "listAdvertisers",
  method: "GET",
  path: "/advertisers",
  tag: "Advertisers",
  summary: "Advertisers, newest first",
  access: staff("advertisers.read"),
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...ADVERTISER_STATUSES),
      q: textParam.meta({ description: "Name, company or e-mail contains" }),
      ids: idsParam.meta({ description: "Comma-separated ids" }),
    }),
  },
  output: z.object({ data: z.array(ShownAdvertiser), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { principal, db } = context;
    const page = openPage(context, "listAdvertisers", query);
    const filters = { status: query.status, q: query.q, ids: query.ids };
    const rows = await listRows(db, principal.workspace.id, filters, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "advertiser", row),
      }),
    };
  },
});
