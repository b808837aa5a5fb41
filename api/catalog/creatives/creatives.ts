import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf, type FilterValues } from "../../http/filter-conditions.ts";
import { statementName } from "../../http/statement-name.ts";

/** A creative as stored. */
export type CreativeRow = {
  readonly id: number;
  readonly offer_id: number;
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly body: string;
  readonly width: number;
  readonly height: number;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
};

/** All creatives of an offer, newest first. The caller must have checked that the key may see the offer. */
export async function listCreativesOfOffer(
  db: Queryable,
  offerId: number,
  filters: FilterValues,
): Promise<CreativeRow[]> {
  const conditions = conditionsOf(filters, {}, "c");
  const { rows } = await db.query<CreativeRow>({
    ...statementName("list-creatives", filters),
    text: `select c.id, c.offer_id, c.name, c.kind, c.url, c.body, c.width, c.height, c.status, c.created_at, c.updated_at
           from creative c
           where c.offer_id = $1 ${quoteConditions(conditions, 2)}
           order by c.created_at desc, c.id desc`,
    values: [offerId, ...conditions.flatMap(({ values }) => values)],
  });
  return rows;
}
