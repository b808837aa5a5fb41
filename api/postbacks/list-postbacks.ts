import { z } from "zod";
import { showTo } from "../access/visibility.ts";
import { invalidParameter } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { openPage } from "../rest/page.ts";
import { idParam, pageParams, wordParam } from "../rest/query-fields.ts";
import { onePostback, POSTBACK_STATUSES, postbackRead, presentPostback } from "./one-postback.ts";
import { listPostbacksOfPartner, listPostbacksOfWorkspace } from "./postbacks.ts";

export const listPostbacks: Operation = operation({
  name: "listPostbacks",
  method: "GET",
  path: "/postbacks",
  tag: "Postbacks",
  summary: "Outgoing partner postbacks, newest first",
  access: postbackRead,
  input: {
    query: z.object({
      ...pageParams,
      offer_id: idParam,
      affiliate_id: idParam.meta({ description: "Not another one for partner keys" }),
      status: wordParam(...POSTBACK_STATUSES),
    }),
  },
  output: z.object({ data: z.array(onePostback.Shown), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { db, principal, workspace } = context;
    const { affiliate } = principal;
    const { offer_id: offerId, affiliate_id: affiliateId, status } = query;
    if (affiliate !== null && (affiliateId ?? affiliate.id) !== affiliate.id)
      throw invalidParameter("affiliate_id", "not your own account");
    const page = openPage(context, "listPostbacks", query);
    const filters = { offerId, affiliateId, status };
    const rows =
      affiliate === null
        ? await listPostbacksOfWorkspace(db, workspace.id, filters, page)
        : await listPostbacksOfPartner(
            db,
            { workspaceId: workspace.id, affiliateId: affiliate.id },
            filters,
            page,
          );
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "postback", presentPostback(row)),
      }),
    };
  },
});
