import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { staff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import { type FilteredPage, openPage } from "../../http/page.ts";
import { pageParams, wordParam } from "../../http/query-fields.ts";
import { statementName } from "../../http/statement-name.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { getOfferOfPath, OfferPath } from "./get-offer.ts";
import { ACCESS_STATUSES, ShownPartnerAccess } from "./offer-fields.ts";
import type { AccessRow } from "./queue-access-event.ts";

export const listPartnerAccess: Operation = operation({
  name: "listPartnerAccess",
  method: "GET",
  path: "/offers/{id}/affiliates",
  tag: "Management",
  summary: "List partners of an offer",
  description: "Their access to the offer, newest request first.",
  access: { ...staff("offers.read"), orPermission: "affiliates.read" },
  input: {
    path: OfferPath,
    query: z.object({ ...pageParams, status: wordParam(...ACCESS_STATUSES) }),
  },
  output: z.object({ data: z.array(ShownPartnerAccess), next_cursor: z.string().nullable() }),
  status: 200,
  findResource: getOfferOfPath,
  run: async (context, { query, resource }) => {
    // A cursor is valid for one offer, because the offer is one of the filters.
    const page = openPage(context, "listPartnerAccess", { ...query, offer: resource.id });
    const filters = { status: query.status };
    const rows = await listAccess(context.db, resource.id, { ...page, filters });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.listed_at, id: String(row.affiliate_id) }),
        show: (row) => showTo(context.principal.role, "partner_access", row),
      }),
    };
  },
});

async function listAccess(
  db: Queryable,
  offerId: number,
  { filters, after, rowsMax }: FilteredPage,
): Promise<(AccessRow & { listed_at: string })[]> {
  const conditions = conditionsOf(filters, {}, "a");
  const { rows } = await db.query<AccessRow & { listed_at: string }>({
    ...statementName("list-offer-access", filters),
    text: `select a.affiliate_id, f.code as affiliate_code, f.name as affiliate_name, a.status, a.note, a.requested_at,
             a.decided_at, coalesce(a.requested_at, 'epoch') as listed_at
           from offer_access a join affiliate f on f.id = a.affiliate_id
           where a.offer_id = $1 and a.is_asked
             and (coalesce(a.requested_at, 'epoch'), a.affiliate_id) < ($2::timestamptz, $3::integer)
             ${quoteConditions(conditions, 5)}
           order by coalesce(a.requested_at, 'epoch') desc, a.affiliate_id desc limit $4`,
    values: [
      offerId,
      after?.at ?? "infinity",
      after?.id ?? 0,
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}
