import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { ApiError } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { keyIdOf } from "../../operation/principal.ts";
import type { FileFormat } from "./file/source-file.ts";
import type { ImportKind } from "./imported-kinds.ts";
import type { StoredPart } from "./stored-file.ts";

/** Imports of a workspace, also while their files arrive. Bounds what the parts of files take of the disk. */
export const OPEN_IMPORTS_MAX = 10;
/** Longer than a file may take to arrive. What is older belongs to a process that was killed. */
const ABANDONED_MINUTES = 15;

/** What was asked for, as stored. */
export type AskedImport = {
  readonly kind: ImportKind;
  readonly name: string;
  readonly format: FileFormat;
  readonly delimiter: string;
  readonly dry_run: boolean;
  readonly update: boolean;
  readonly skip_faulty: boolean;
};

/** A row for a file that is about to arrive. @throws {ApiError} `conflict` if too many imports go on. */
export async function insertUpload(context: OperationContext, asked: AskedImport): Promise<number> {
  const { principal, workspace } = context;
  const { actor } = principal;
  return await inTransaction(context.db, async (tx) => {
    await lockUploads(tx, workspace.id);
    if ((await countOpen(tx, workspace.id)) >= OPEN_IMPORTS_MAX) {
      throw new ApiError(
        "conflict",
        `${OPEN_IMPORTS_MAX} imports of this workspace have not ended: wait for one of them, or stop it`,
      );
    }
    const { rows } = await tx.query<{ id: number }>({
      name: "insert-import",
      text: `insert into import (workspace_id, key_id, person_id, membership_id, created_by, is_fresh, request_id, kind, name, format,
               delimiter, is_dry_run, is_update, skips_faulty, status)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'uploading') returning id`,
      values: [
        workspace.id,
        keyIdOf(actor),
        actor.kind === "person" ? actor.id : null,
        actor.kind === "person" ? actor.membershipId : null,
        actor.name,
        context.isFresh,
        context.requestId,
        asked.kind,
        asked.name,
        asked.format,
        asked.delimiter,
        asked.dry_run,
        asked.update,
        asked.skip_faulty,
      ],
    });
    const id = rows[0]?.id;
    if (id === undefined) throw new Error("an import was inserted without an id");
    return id;
  });
}

/** Makes the uploads of a workspace begin one after the other, so that the limit holds. */
async function lockUploads(tx: Queryable, workspaceId: number): Promise<void> {
  await tx.query({
    name: "lock-import-uploads",
    text: "select pg_advisory_xact_lock(hashtextextended($1, 0))",
    values: [`imports of ${workspaceId}`],
  });
}

async function countOpen(tx: Queryable, workspaceId: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: "count-open-imports",
    text: `select count(*)::integer as count from import where ended_at is null and workspace_id = $1`,
    values: [workspaceId],
  });
  return rows[0]?.count ?? 0;
}

export async function insertPart(
  db: Queryable,
  importId: number,
  part: StoredPart & { readonly number: number },
): Promise<void> {
  await db.query({
    name: "insert-import-part",
    text: "insert into import_part (import_id, number, bytes, is_sealed) values ($1, $2, $3, $4)",
    values: [importId, part.number, part.bytes, part.isSealed],
  });
}

export type ArrivedFile = {
  readonly bytes: number;
  readonly parts: number;
  /** See `idOfHash`. */
  readonly recordId: string;
};

/**
 * The file has arrived whole: its import is due. If the same file with the same options is being imported already (unique index import_once),
 * deletes this upload instead. Returns the id of the import that goes on.
 */
export async function queueUpload(db: Pool, id: number, file: ArrivedFile): Promise<number> {
  for (;;) {
    try {
      await markQueued(db, id, file);
      return id;
    } catch (error) {
      if (violatedConstraint(error) !== "import_once") throw error;
    }
    const other = await findSame(db, id, file);
    if (other === undefined) continue;
    await deleteUpload(db, id);
    return other;
  }
}

async function markQueued(db: Queryable, id: number, file: ArrivedFile): Promise<void> {
  const { rowCount } = await db.query({
    name: "queue-import",
    text: `update import set status = 'queued', bytes = $2, parts = $3, record_id = $4
           where id = $1 and status = 'uploading'`,
    values: [id, file.bytes, file.parts, file.recordId],
  });
  if (rowCount === 0) throw new Error("an upload was deleted while its file arrived");
}

/** Undefined if it has ended meanwhile. */
async function findSame(
  db: Queryable,
  id: number,
  { recordId }: ArrivedFile,
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: "find-same-import",
    text: `select o.id from import i join import o
             on o.workspace_id = i.workspace_id and o.record_id = $2 and o.format = i.format and o.delimiter = i.delimiter
               and o.is_dry_run = i.is_dry_run and o.skips_faulty = i.skips_faulty
           where i.id = $1 and o.status in ('queued', 'checking', 'writing')`,
    values: [id, recordId],
  });
  return rows[0]?.id;
}

/** With its parts. */
export async function deleteUpload(db: Queryable, id: number): Promise<void> {
  await db.query({
    name: "delete-import-upload",
    text: "delete from import where id = $1 and status = 'uploading'",
    values: [id],
  });
}

/** Uploads of processes that were killed. */
export async function deleteAbandonedUploads(db: Queryable): Promise<void> {
  await db.query({
    name: "delete-abandoned-imports",
    text: `delete from import
           where ended_at is null and status = 'uploading' and created_at < now() - make_interval(mins => $1)`,
    values: [ABANDONED_MINUTES],
  });
}
