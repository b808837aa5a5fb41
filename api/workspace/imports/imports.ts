import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { ImportKind } from "./imported-kinds.ts";
import type { StoredImport } from "./stored-import.ts";

const COLUMNS = `i.id, i.kind, i.name, i.format, i.delimiter, i.is_dry_run as dry_run, i.is_update as update,
  i.skips_faulty as skip_faulty, i.status, i.message, i.bytes, i.rows_checked, i.rows_faulty, i.rows_to_create, i.rows_to_update,
  i.rows_already_written, i.rows_created, i.rows_updated, i.rows_left_out, i.created_by, i.created_at, i.started_at, i.ended_at`;

/** Where imports are visible: to callers of a workspace who may read or write records of these kinds. */
export type ImportScope = {
  readonly workspaceId: number;
  readonly kinds: readonly ImportKind[];
};

/** Newest first, without faults. */
export async function listImports(
  db: Queryable,
  { workspaceId, kinds }: ImportScope,
  { after, rowsMax, filters }: FilteredPage,
): Promise<StoredImport[]> {
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<StoredImport>({
    ...statementName("list-imports", filters),
    text: `select ${COLUMNS}, '[]'::jsonb as faults from import i
           where i.workspace_id = $1 and i.kind = any($2::text[]) and i.status <> 'uploading'
             and (i.created_at, i.id) < ($3::timestamptz, $4::integer)
             ${quoteConditions(conditions, 6)}
           order by i.created_at desc, i.id desc limit $5`,
    values: [
      workspaceId,
      kinds,
      after?.at ?? "infinity",
      Number(after?.id ?? "0"),
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

export async function findImport(
  db: Queryable,
  { workspaceId, kinds }: ImportScope,
  id: number,
): Promise<StoredImport | undefined> {
  const { rows } = await db.query<StoredImport>({
    name: "find-import",
    text: `select ${COLUMNS}, i.faults from import i
           where i.id = $3 and i.workspace_id = $1 and i.kind = any($2::text[]) and i.status <> 'uploading'`,
    values: [workspaceId, kinds, id],
  });
  return rows[0];
}

/**
 * Ends an import that goes on. Its lease ends with it, so no row of it is written after the commit. Returns whether it went on.
 */
export async function stopImport(tx: Queryable, id: number, message: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: "stop-import",
    text: `update import set status = 'stopped', message = $2, ended_at = clock_timestamp(), lease_token = null, leased_until = null
           where id = $1 and status in ('queued', 'checking', 'writing')`,
    values: [id, message],
  });
  if (rowCount === 0) return false;
  await deleteParts(tx, id);
  return true;
}

/** Deletes the file of an import that has ended, which needs it no more. */
export async function deleteParts(tx: Queryable, id: number): Promise<void> {
  await tx.query({
    name: "delete-import-parts",
    text: "delete from import_part where import_id = $1",
    values: [id],
  });
}
