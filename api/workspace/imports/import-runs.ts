import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import type { FileFormat } from "./file/source-file.ts";
import type { ImportKind } from "./imported-kinds.ts";
import { deleteParts } from "./imports.ts";
import type { EndedStatus, StoredFault } from "./stored-import.ts";

/** A run that has noted nothing for this time counts as killed. */
export const SILENT_SECONDS = 15;

/** The import was stopped, has ended, or counted as killed and another process runs it: this process must not touch it. */
export class RunOverError extends Error {
  override readonly name = "RunOverError";

  constructor() {
    super("this run of the import is over");
  }
}

/** An import that this process runs. */
export type ImportRun = {
  readonly id: number;
  /** Names only this run: a run that has lost the import finds another token. */
  readonly token: string;
  readonly workspaceId: number;
  readonly keyId: number | null;
  readonly personId: number | null;
  readonly membershipId: number | null;
  readonly isFresh: boolean;
  readonly requestId: string;
  readonly kind: ImportKind;
  readonly format: FileFormat;
  readonly delimiter: string;
  readonly isDryRun: boolean;
  readonly isUpdate: boolean;
  readonly skipsFaulty: boolean;
  readonly parts: number;
  readonly recordId: string;
  /** By earlier runs. */
  readonly rowsCreated: number;
  readonly rowsUpdated: number;
  /** Runs since a row was written last, this run included. */
  readonly attempts: number;
};

type Run = Pick<ImportRun, "id" | "token">;

/** Imports that no process runs. */
export async function countWaitingImports(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ waiting: number }>({
    name: "count-waiting-imports",
    text: `select count(*)::integer as waiting from import
           where ended_at is null and status <> 'uploading' and (lease_token is null or leased_until < now())`,
  });
  return rows[0]?.waiting ?? 0;
}

/** Begins a run of the oldest import that is due. Undefined if there is none. */
export async function beginRun(db: Queryable): Promise<ImportRun | undefined> {
  const { rows } = await db.query<ImportRun>({
    name: "begin-import-run",
    text: `with due as (
             select id from import
             where ended_at is null and status <> 'uploading' and coalesce(leased_until < now(), true)
             order by id limit 1 for update skip locked)
           update import i set lease_token = gen_random_uuid(), leased_until = now() + make_interval(secs => $1),
             attempts = attempts + 1, started_at = coalesce(started_at, now()), status = 'checking'
           from due where i.id = due.id
           returning i.id, lease_token as token, workspace_id as "workspaceId", key_id as "keyId", person_id as "personId",
             membership_id as "membershipId", is_fresh as "isFresh", request_id as "requestId", kind, format, delimiter,
             is_dry_run as "isDryRun", is_update as "isUpdate", skips_faulty as "skipsFaulty", parts, record_id as "recordId",
             rows_created as "rowsCreated", rows_updated as "rowsUpdated", attempts`,
    values: [SILENT_SECONDS],
  });
  return rows[0];
}

/** What an import shows of its rows. */
export type RunNote = {
  readonly status: "checking" | "writing";
  readonly rows: number;
  readonly toCreate: number;
  readonly toUpdate: number;
  readonly alreadyWritten: number;
  readonly created: number;
  readonly updated: number;
  readonly leftOut: number;
  readonly faulty: number;
  /** Undefined if they are as in the note before. */
  readonly faults?: readonly StoredFault[] | undefined;
};

/** Notes how far a run is, which keeps the import. @throws {RunOverError} */
export async function noteRun(db: Queryable, { id, token }: Run, note: RunNote): Promise<void> {
  const { rowCount } = await db.query({
    name: "note-import-run",
    text: `update import set status = $3, rows_checked = $4, rows_to_create = $5, rows_to_update = $6, rows_already_written = $7,
             attempts = case when rows_created + rows_updated < $8::integer + $9::integer then 0 else attempts end,
             rows_created = $8, rows_updated = $9, rows_left_out = $10, rows_faulty = $11, faults = coalesce($12::jsonb, faults),
             leased_until = now() + make_interval(secs => $13)
           where id = $1 and lease_token = $2`,
    values: [
      id,
      token,
      note.status,
      note.rows,
      note.toCreate,
      note.toUpdate,
      note.alreadyWritten,
      note.created,
      note.updated,
      note.leftOut,
      note.faulty,
      note.faults === undefined ? null : JSON.stringify(note.faults),
      SILENT_SECONDS,
    ],
  });
  if (rowCount === 0) throw new RunOverError();
}

/** Ends an import, and deletes its file. `message` is "" for `done`. @throws {RunOverError} */
export async function endRun(
  db: Pool,
  { id, token }: Run,
  end: { readonly status: EndedStatus; readonly message: string },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rowCount } = await tx.query({
      name: "end-import-run",
      text: `update import set status = $3, message = $4, ended_at = clock_timestamp(), lease_token = null, leased_until = null
             where id = $1 and lease_token = $2`,
      values: [id, token, end.status, end.message],
    });
    if (rowCount === 0) throw new RunOverError();
    await deleteParts(tx, id);
  });
}

/** Ends a run without its import, which is due again in `seconds`. Only a run that `counts` counts as an attempt. */
export async function leaveRun(
  db: Queryable,
  { id, token }: Run,
  { seconds, counts }: { readonly seconds: number; readonly counts: boolean },
): Promise<void> {
  await db.query({
    name: "leave-import-run",
    text: `update import set lease_token = null, leased_until = now() + make_interval(secs => $3),
             attempts = attempts - case when $4 or attempts = 0 then 0 else 1 end
           where id = $1 and lease_token = $2`,
    values: [id, token, seconds, counts],
  });
}
