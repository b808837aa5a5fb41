import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { FilteredPage } from "../../http/page.ts";
import { keyIdOf, type Principal } from "../../operation/principal.ts";
import type { SavedViewChange, SavedViewRow } from "./saved-view-fields.ts";

/*
 * The first five values of every statement are the caller: workspace, partner, advertiser, person and key. Each sees its own views and what
 * others of the same account share.
 */
const IS_OWN = "(v.person_id is not distinct from $4 and v.key_id is not distinct from $5)";
const IS_SEEN = `v.workspace_id = $1 and coalesce(v.affiliate_id, 0) = coalesce($2::integer, 0)
  and coalesce(v.advertiser_id, 0) = coalesce($3::integer, 0) and (v.is_shared or ${IS_OWN})`;
const COLUMNS = `v.id, v.name, v.path, v.query, v.is_shared, ${IS_OWN} as is_own, v.created_at, v.updated_at`;

type CallerValues = readonly [
  workspaceId: number,
  affiliateId: number | null,
  advertiserId: number | null,
  personId: number | null,
  keyId: number | null,
];

function callerValues({ workspace, affiliate, advertiser, actor }: Principal): CallerValues {
  return [
    workspace.id,
    affiliate?.id ?? null,
    advertiser?.id ?? null,
    actor.kind === "person" ? actor.id : null,
    keyIdOf(actor),
  ];
}

/** Newest first. */
export async function listViews(
  db: Queryable,
  principal: Principal,
  { after, rowsMax }: Pick<FilteredPage, "after" | "rowsMax">,
): Promise<SavedViewRow[]> {
  const { rows } = await db.query<SavedViewRow>({
    name: "list-saved-views",
    text: `select ${COLUMNS} from saved_view v
           where ${IS_SEEN} and (v.created_at, v.id) < ($6::timestamptz, $7::integer)
           order by v.created_at desc, v.id desc limit $8`,
    values: [
      ...callerValues(principal),
      after?.at ?? "infinity",
      Number(after?.id ?? "0"),
      rowsMax,
    ],
  });
  return rows;
}

/** A view that the caller sees. */
export async function findView(
  db: Queryable,
  principal: Principal,
  id: number,
): Promise<SavedViewRow | undefined> {
  const { rows } = await db.query<SavedViewRow>({
    name: "find-saved-view",
    text: `select ${COLUMNS} from saved_view v where ${IS_SEEN} and v.id = $6`,
    values: [...callerValues(principal), id],
  });
  return rows[0];
}

/** Views that the caller has made, at most `countMax`. */
export async function countOwnViews(
  db: Queryable,
  principal: Principal,
  countMax: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: "count-own-saved-views",
    text: `select count(*)::integer as count from (select from saved_view v
             where ${IS_SEEN} and ${IS_OWN} limit $6) found`,
    values: [...callerValues(principal), countMax],
  });
  return rows[0]?.count ?? 0;
}

/** Serialises what one caller saves, so that a limit holds. */
export async function lockViewsOf(tx: Queryable, { actor }: Principal): Promise<void> {
  await tx.query({
    name: "lock-saved-views",
    text: "select pg_advisory_xact_lock(hashtextextended($1, 0))",
    values: [`saved-views ${actor.kind} ${actor.id}`],
  });
}

export async function insertView(
  tx: Queryable,
  principal: Principal,
  view: Required<SavedViewChange>,
): Promise<number> {
  const { rows } = await tx.query<{ id: number }>({
    name: "insert-saved-view",
    text: `insert into saved_view (workspace_id, affiliate_id, advertiser_id, person_id, key_id, name, path, query, is_shared)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
    values: [...callerValues(principal), view.name, view.path, view.query, view.is_shared],
  });
  const id = rows[0]?.id;
  if (id === undefined) throw new Error("a view was inserted without an id");
  return id;
}

/** Changes a view of the caller. False if it is gone meanwhile. */
export async function updateView(
  db: Queryable,
  id: number,
  change: SavedViewChange,
): Promise<boolean> {
  const { rows } = await db.query({
    name: "update-saved-view",
    text: `update saved_view set name = coalesce($2, name), path = coalesce($3, path), query = coalesce($4, query),
             is_shared = coalesce($5, is_shared), updated_at = now() where id = $1 returning id`,
    values: [
      id,
      change.name ?? null,
      change.path ?? null,
      change.query ?? null,
      change.is_shared ?? null,
    ],
  });
  return rows.length > 0;
}

export async function deleteView(db: Queryable, id: number): Promise<void> {
  await db.query({
    name: "delete-saved-view",
    text: "delete from saved_view where id = $1",
    values: [id],
  });
}
