import type { Queryable } from "../../schemas/postgres/connect.ts";

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
  filters: { readonly kind: string | undefined; readonly status: string | undefined },
): Promise<CreativeRow[]> {
  const { rows } = await db.query<CreativeRow>({
    name: "list-creatives",
    text: `select c.id, c.offer_id, c.name, c.kind, c.url, c.body, c.width, c.height, c.status, c.created_at, c.updated_at
           from creative c
           where c.offer_id = $1 and ($2::text is null or c.kind = $2) and ($3::text is null or c.status = $3)
           order by c.created_at desc, c.id desc`,
    values: [offerId, filters.kind, filters.status],
  });
  return rows;
}
