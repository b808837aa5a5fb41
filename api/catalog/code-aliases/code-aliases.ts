import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { type Condition, quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf, type Filter } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Reference } from "../../operation/codes.ts";
import { ALIAS_KINDS, type AliasKind, type AliasRow } from "./code-alias-fields.ts";

/**
 * A record with this code or id is found before the alias is asked (N112). Subqueries of one row each: Postgres would answer `exists`
 * and joins for a page by reading whole tables.
 */
const COLUMNS = `a.id, a.kind, a.alias, a.target_id,
  coalesce((select o.code from offer o where o.id = a.offer_id), (select f.code from affiliate f where f.id = a.affiliate_id),
    (select s.code from smart_link s where s.id = a.smart_link_id)) as target,
  coalesce(
    (select true from link_code c where c.workspace_id = a.workspace_id and c.kind = a.kind and c.code = lower(a.alias) limit 1),
    (select true from link_code c where c.workspace_id = a.workspace_id and c.kind = a.kind
      and c.id = case when a.alias ~ '^[1-9][0-9]{0,9}$' then a.alias::bigint end limit 1), false) as shadowed,
  a.created_at, a.updated_at`;
const FILTERS: Readonly<Record<string, Filter>> = {
  alias: (value) => ({
    text: (first) => `lower(a.alias) = lower($${first}::text)`,
    values: [value],
  }),
};

type AliasTarget = { readonly kind: AliasKind; readonly targetId: number };

/** Values of `offer_id`, `affiliate_id` and `smart_link_id`: one of them names the target. */
function targetColumns({ kind, targetId }: AliasTarget): (number | null)[] {
  return ALIAS_KINDS.map((one) => (one === kind ? targetId : null));
}

export async function listAliases(
  db: Queryable,
  workspaceId: number,
  { filters, after, rowsMax }: FilteredPage,
): Promise<AliasRow[]> {
  const conditions: readonly Condition[] = conditionsOf(filters, FILTERS, "a");
  const { rows } = await db.query<AliasRow>({
    ...statementName("list-aliases", filters),
    text: `select ${COLUMNS} from code_alias a
           where a.workspace_id = $1 and (a.created_at, a.id) < ($2::timestamptz, $3::integer) ${quoteConditions(conditions, 5)}
           order by a.created_at desc, a.id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      after?.id ?? 0,
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

export async function findAlias(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<AliasRow | undefined> {
  const { rows } = await db.query<AliasRow>({
    name: "find-alias",
    text: `select ${COLUMNS} from code_alias a where a.workspace_id = $1 and a.id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/** @throws a unique violation of `code_alias_alias`. */
export async function insertAlias(
  db: Queryable,
  workspaceId: number,
  row: AliasTarget & { readonly alias: string },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-alias",
    text: `insert into code_alias (workspace_id, alias, offer_id, affiliate_id, smart_link_id)
           values ($1, $2, $3, $4, $5) returning id`,
    values: [workspaceId, row.alias, ...targetColumns(row)],
  });
  const [inserted] = rows;
  if (inserted === undefined) throw new Error("an insert of an alias returned no row");
  return inserted.id;
}

/** The kind of an alias stays. @throws a unique violation of `code_alias_alias`. */
export async function updateAlias(
  db: Queryable,
  workspaceId: number,
  row: AliasTarget & { readonly id: number; readonly alias: string },
): Promise<void> {
  await db.query({
    name: "update-alias",
    text: `update code_alias set alias = $3, offer_id = $4, affiliate_id = $5, smart_link_id = $6, updated_at = clock_timestamp()
           where workspace_id = $1 and id = $2`,
    values: [workspaceId, row.id, row.alias, ...targetColumns(row)],
  });
}

export async function deleteAlias(db: Queryable, workspaceId: number, id: number): Promise<void> {
  await db.query({
    name: "delete-alias",
    text: "delete from code_alias where workspace_id = $1 and id = $2",
    values: [workspaceId, id],
  });
}

/** By id, else by code (G25). */
export async function findSmartLinkId(
  db: Queryable,
  workspaceId: number,
  { id, code }: Reference,
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: "find-smart-link-id",
    text: `select id from smart_link where workspace_id = $1 and (id = $2 or lower(code) = lower($3)) order by id = $2 desc limit 1`,
    values: [workspaceId, id, code],
  });
  return rows[0]?.id;
}
