import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { openPage } from "../../http/page.ts";
import { idParam, pageParams, wordParam } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { ACCESS_STATUSES } from "../offers/offer-fields.ts";
import { ShownAccessRequest } from "./access-request-fields.ts";
import { listRequests } from "./access-requests.ts";

export const listAccessRequests: Operation = operation({
  name: "listAccessRequests",
  method: "GET",
  path: "/access-requests",
  tag: "Offers",
  summary: "List requests for access to offers",
  description: "Newest first.",
  access: { ...staff("offers.read"), orPermission: "affiliates.read" },
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...ACCESS_STATUSES),
      offer_id: idParam,
      affiliate_id: idParam,
    }),
  },
  output: z.object({ data: z.array(ShownAccessRequest), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listAccessRequests", query);
    const rows = await listRequests(context.db, context.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.listed_at, id: `${row.offer_id}.${row.affiliate_id}` }),
        show: (row) => showTo(context.principal.role, "access_request", row),
      }),
    };
  },
});
