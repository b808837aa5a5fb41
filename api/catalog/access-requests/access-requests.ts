import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf, type FilterValues } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { AccessRequestRow } from "./access-request-fields.ts";

const COLUMNS = `a.offer_id, o.code as offer_code, o.name as offer_name, a.affiliate_id, f.code as affiliate_code,
  f.name as affiliate_name, a.status, a.note, a.reply, a.message, a.answers, a.requested_at, a.decided_at`;
const SOURCE = `offer_access a join offer o on o.id = a.offer_id join affiliate f on f.id = a.affiliate_id`;
/** $1 is the workspace. The indexes have the same expression. */
const IS_REQUEST = "a.workspace_id = $1 and a.is_asked and o.deleted_at is null";
const ORDER = "coalesce(a.requested_at, 'epoch'), a.offer_id, a.affiliate_id";

export type ListedRequest = AccessRequestRow & { readonly listed_at: string };

/** Newest request first, at most `rowsMax`. The id of a position is `<offer>.<affiliate>`. */
export async function listRequests(
  db: Queryable,
  workspaceId: number,
  { filters, after, rowsMax }: FilteredPage,
): Promise<ListedRequest[]> {
  const conditions = conditionsOf(filters, {}, "a");
  const [offerId = "0", affiliateId = "0"] = (after?.id ?? "").split(".");
  const { rows } = await db.query<ListedRequest>({
    ...statementName("list-access-requests", filters),
    text: `select ${COLUMNS}, coalesce(a.requested_at, 'epoch') as listed_at from ${SOURCE}
           where ${IS_REQUEST} and (${ORDER}) < ($2::timestamptz, $3::integer, $4::integer)
             ${quoteConditions(conditions, 6)}
           order by coalesce(a.requested_at, 'epoch') desc, a.offer_id desc, a.affiliate_id desc limit $5`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      Number(offerId),
      Number(affiliateId),
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** How many requests `listRequests` finds, up to `countMax`. */
export async function countRequests(
  db: Queryable,
  workspaceId: number,
  { filters, countMax }: { readonly filters: FilterValues; readonly countMax: number },
): Promise<number> {
  const conditions = conditionsOf(filters, {}, "a");
  const { rows } = await db.query<{ count: number }>({
    text: `select count(*)::integer as count from (select from ${SOURCE}
             where ${IS_REQUEST} ${quoteConditions(conditions, 3)} limit $2) found`,
    values: [workspaceId, countMax, ...conditions.flatMap(({ values }) => values)],
  });
  return rows[0]?.count ?? 0;
}

/** The request of one partner for one offer. Undefined if it has not asked. */
export async function findRequest(
  db: Queryable,
  offerId: number,
  affiliateId: number,
): Promise<AccessRequestRow | undefined> {
  const { rows } = await db.query<AccessRequestRow>({
    name: "find-access-request",
    text: `select ${COLUMNS} from ${SOURCE} where a.offer_id = $1 and a.affiliate_id = $2 and a.is_asked`,
    values: [offerId, affiliateId],
  });
  return rows[0];
}

export type RequestKey = { readonly offer_id: number; readonly affiliate_id: number };

/**
 * Serialises writers of the access records of these offers until the end of their transactions, as `lockForAccess` does for one
 * offer. The locks are taken in order of id.
 */
export async function lockOffersOf(
  tx: Queryable,
  workspaceId: number,
  keys: readonly RequestKey[],
): Promise<void> {
  await tx.query({
    name: "lock-offers-for-access",
    text: `select o.id from offer o where o.workspace_id = $1 and o.id = any($2::integer[])
           order by o.id for no key update`,
    values: [workspaceId, keys.map((key) => key.offer_id)],
  });
}

/** The requests among these that exist in the workspace. */
export async function readRequests(
  tx: Queryable,
  workspaceId: number,
  keys: readonly RequestKey[],
): Promise<AccessRequestRow[]> {
  const { rows } = await tx.query<AccessRequestRow>({
    name: "find-access-requests",
    text: `select ${COLUMNS} from unnest($2::integer[], $3::integer[]) k (offer_id, affiliate_id)
           join offer_access a on a.offer_id = k.offer_id and a.affiliate_id = k.affiliate_id
           join offer o on o.id = a.offer_id join affiliate f on f.id = a.affiliate_id
           where o.workspace_id = $1 and a.is_asked and o.deleted_at is null order by a.offer_id, a.affiliate_id`,
    values: [workspaceId, keys.map((key) => key.offer_id), keys.map((key) => key.affiliate_id)],
  });
  return rows;
}

/** Decides pending requests. The caller has locked them. */
export async function decideRequests(
  tx: Queryable,
  keys: readonly RequestKey[],
  decision: { readonly status: string; readonly note: string; readonly reply: string },
): Promise<void> {
  await tx.query({
    name: "decide-access-requests",
    text: `update offer_access a set status = $3, note = $4, reply = $5, decided_at = now()
           from unnest($1::integer[], $2::integer[]) k (offer_id, affiliate_id)
           where a.offer_id = k.offer_id and a.affiliate_id = k.affiliate_id and a.status = 'pending'`,
    values: [
      keys.map((key) => key.offer_id),
      keys.map((key) => key.affiliate_id),
      decision.status,
      decision.note,
      decision.reply,
    ],
  });
}
