import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Principal } from "../../operation/principal.ts";
import { CAN_RUN } from "../offers/can-run.ts";

/** Names that an answer shows next to the ids. */
export type NamesRow = { readonly advertiser: string; readonly offer_name: string };

type ListedRow = NamesRow & Readonly<Record<string, unknown>>;

const SOURCE = `join advertiser owner on owner.id = d.advertiser_id left join offer o on o.id = d.offer_id
  left join advertiser adv on adv.id = o.advertiser_id left join affiliate f on f.id = $3
  left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = f.id`;
/** $1 is the workspace; $2 and $3 are the advertiser and the partner of the key, if any. */
const VISIBLE_DEALS = `d.workspace_id = $1 and ($2::integer is null or d.advertiser_id = $2)
  and ($3::integer is null or (d.status = 'active'
    and (d.offer_id is null or (o.deleted_at is null and ${CAN_RUN}))))`;

/** Every deal that the key sees, newest first. Partners see only deals in force now. */
export async function listDealsOf(db: Queryable, principal: Principal): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>({
    name: "list-deals",
    text: `select d.id, d.advertiser_id, owner.name as advertiser, d.offer_id, coalesce(o.name, '') as offer_name, d.title,
             d.description, d.coupon_code, d.landing_url, d.starts_at, d.ends_at, d.status, d.updated_at
           from deal d ${SOURCE}
           where ${VISIBLE_DEALS} and ($3::integer is null
             or (coalesce(d.starts_at <= now(), true) and coalesce(d.ends_at > now(), true)))
           order by d.created_at desc, d.id desc`,
    values: accountsOf(principal),
  });
  return rows;
}

/** Every product feed that the key sees, newest first. */
export async function listFeedsOf(db: Queryable, principal: Principal): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>({
    name: "list-product-feeds",
    text: `select d.id, d.advertiser_id, owner.name as advertiser, d.offer_id, coalesce(o.name, '') as offer_name, d.name,
             d.feed_url, d.format, d.status, d.description, d.updated_at
           from product_feed d ${SOURCE}
           where ${VISIBLE_DEALS}
           order by d.created_at desc, d.id desc`,
    values: accountsOf(principal),
  });
  return rows;
}

export async function findNames(
  db: Queryable,
  ids: { readonly advertiserId: unknown; readonly offerId: unknown },
): Promise<NamesRow | undefined> {
  const { rows } = await db.query<NamesRow>({
    name: "find-names-of-deal",
    text: `select a.name as advertiser, coalesce((select o.name from offer o where o.id = $2::integer), '') as offer_name
           from advertiser a where a.id = $1::integer`,
    values: [ids.advertiserId, ids.offerId],
  });
  return rows[0];
}

/** The advertiser of an offer of the workspace; undefined if the offer does not exist. */
export async function findAdvertiserOfOffer(
  db: Queryable,
  workspaceId: number,
  offerId: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ advertiser_id: number }>({
    name: "find-advertiser-of-offer",
    text: "select o.advertiser_id from offer o where o.workspace_id = $1 and o.id = $2 and o.deleted_at is null",
    values: [workspaceId, offerId],
  });
  return rows[0]?.advertiser_id;
}

function accountsOf({ workspace, advertiser, affiliate }: Principal): unknown[] {
  return [workspace.id, advertiser?.id, affiliate?.id];
}
