import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Position } from "../../operation/cursor.ts";

/** One stored change of a conversion. The values before it are null for the change that created the conversion. */
export type HistoryRow = {
  /** Increases with every change. */
  id: string;
  at: string;
  actor: string;
  key_id: number | null;
  person_id: number | null;
  from_status: string | null;
  to_status: string;
  reason: string;
  from_revenue: string | null;
  to_revenue: string;
  from_payout: string | null;
  to_payout: string;
  from_sale_amount: string | null;
  to_sale_amount: string;
};

/** Newest first. The caller must have checked that the key may read the conversion. */
export async function listHistory(
  db: Queryable,
  conversionId: string,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<HistoryRow[]> {
  const { rows } = await db.query<HistoryRow>({
    name: "list-conversion-history",
    text: `select h.id::text as id, h.at, h.actor, h.key_id, h.from_status, h.to_status, h.reason, h.from_revenue,
             h.to_revenue, h.from_payout, h.to_payout, h.from_sale_amount, h.to_sale_amount, h.person_id
           from conversion_history h
           where h.conversion_id = $1 and ($2::bigint is null or h.id < $2)
           order by h.id desc limit $3`,
    values: [conversionId, page.after?.id, page.rowsMax],
  });
  return rows;
}
