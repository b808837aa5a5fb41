import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import type { Checked } from "./file/check-file.ts";
import type { FileFormat, WrittenPart } from "./file/import-plan.ts";
import type { ImportKind } from "./imported-kinds.ts";
import { deleteParts } from "./imports.ts";
import type { EndedStatus, StoredFault } from "./stored-import.ts";

/** How long a process that gets on keeps an import. Another one continues the import of a killed process after this time. */
export const LEASE_SECONDS = 15;

/** The import goes on without this process, or has ended: it was stopped, or the lease ran out and another process has it. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";

  constructor() {
    super("the lease of the import is lost");
  }
}

/** An import that this process carries out. */
export type LeasedImport = {
  readonly id: number;
  readonly token: string;
  readonly workspaceId: number;
  readonly keyId: number | null;
  readonly personId: number | null;
  readonly membershipId: number | null;
  readonly createdBy: string;
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
  readonly status: "checking" | "writing";
  readonly faults: readonly StoredFault[];
  readonly lastRow: number;
  readonly rowsCreated: number;
  readonly rowsUpdated: number;
  readonly rowsLeftOut: number;
  /** This lease included. */
  readonly attempts: number;
};

export type OpenImports = {
  /** Imports that no process carries out at present. */
  readonly waiting: number;
  /** Of those, the ones that may be leased now. */
  readonly due: number;
};

export async function countOpenImports(db: Queryable): Promise<OpenImports> {
  const { rows } = await db.query<OpenImports>({
    name: "count-waiting-imports",
    text: `select count(*) filter (where lease_token is null or leased_until < now())::integer as waiting,
             count(*) filter (where coalesce(leased_until < now(), true))::integer as due
           from import where ended_at is null and status <> 'uploading'`,
  });
  return rows[0] ?? { waiting: 0, due: 0 };
}

/** Leases the oldest import that is due. Undefined if there is none. */
export async function leaseImport(db: Queryable): Promise<LeasedImport | undefined> {
  const { rows } = await db.query<LeasedImport>({
    name: "lease-import",
    text: `with due as (
             select id from import
             where ended_at is null and status <> 'uploading' and coalesce(leased_until < now(), true)
             order by id limit 1 for update skip locked)
           update import i set lease_token = gen_random_uuid(), leased_until = now() + make_interval(secs => $1),
             attempts = attempts + 1, started_at = coalesce(started_at, now()),
             status = case status when 'writing' then status else 'checking' end
           from due where i.id = due.id
           returning i.id, lease_token as token, workspace_id as "workspaceId", key_id as "keyId", person_id as "personId",
             membership_id as "membershipId", created_by as "createdBy", is_fresh as "isFresh", request_id as "requestId", kind, format,
             delimiter, is_dry_run as "isDryRun", is_update as "isUpdate", skips_faulty as "skipsFaulty", parts, record_id as "recordId",
             status, faults, last_row as "lastRow", rows_created as "rowsCreated", rows_updated as "rowsUpdated",
             rows_left_out as "rowsLeftOut", attempts`,
    values: [LEASE_SECONDS],
  });
  return rows[0];
}

type Lease = Pick<LeasedImport, "id" | "token">;

/** Keeps others away from the import until the end of the transaction. @throws {LeaseLostError} */
export async function holdLease(tx: Queryable, { id, token }: Lease): Promise<void> {
  const { rows } = await tx.query({
    name: "hold-import",
    text: "select id from import where id = $1 and lease_token = $2 for update",
    values: [id, token],
  });
  if (rows.length === 0) throw new LeaseLostError();
}

/** What is known of the rows; `faulty` counts those of earlier leases, too. */
export type CheckProgress = Checked & { readonly faulty: number };

/**
 * Notes how far the check has come, and extends the lease. `faults` are undefined if there are no others than those noted last.
 * @throws {LeaseLostError}
 */
export async function noteCheck(
  db: Queryable,
  lease: Lease,
  {
    checked,
    faults,
  }: { readonly checked: CheckProgress; readonly faults: readonly StoredFault[] | undefined },
): Promise<void> {
  await changeLeased(db, {
    name: "note-import-check",
    text: `update import set rows_checked = $3, rows_to_create = $4, rows_to_update = $5, rows_already_written = $6, rows_faulty = $7,
             faults = coalesce($8::jsonb, faults), leased_until = now() + make_interval(secs => $9)
           where id = $1 and lease_token = $2`,
    values: [
      lease.id,
      lease.token,
      checked.rows,
      checked.toCreate,
      checked.toUpdate,
      checked.alreadyWritten,
      checked.faulty,
      faults === undefined ? null : JSON.stringify(faults),
      LEASE_SECONDS,
    ],
  });
}

/** The check is over. @throws {LeaseLostError} */
export async function beginWriting(db: Queryable, { id, token }: Lease): Promise<void> {
  await changeLeased(db, {
    name: "begin-import-writing",
    text: "update import set status = 'writing' where id = $1 and lease_token = $2",
    values: [id, token],
  });
}

/** Notes rows in the transaction that writes them. `faults` are undefined unless rows were refused only now. @throws {LeaseLostError} */
export async function notePart(
  tx: Queryable,
  { id, token }: Lease,
  {
    part,
    faults,
  }: { readonly part: WrittenPart; readonly faults: readonly StoredFault[] | undefined },
): Promise<void> {
  await changeLeased(tx, {
    name: "note-import-part",
    text: `update import set last_row = $3, rows_created = rows_created + $4, rows_updated = rows_updated + $5,
             rows_left_out = rows_left_out + $6, rows_faulty = rows_faulty + $7, faults = coalesce($8::jsonb, faults), attempts = 0,
             leased_until = now() + make_interval(secs => $9)
           where id = $1 and lease_token = $2`,
    values: [
      id,
      token,
      part.last,
      part.created,
      part.updated,
      part.leftOut,
      part.refused.length,
      faults === undefined ? null : JSON.stringify(faults),
      LEASE_SECONDS,
    ],
  });
}

export type ImportEnd = {
  readonly status: EndedStatus;
  /** "" for `done`. */
  readonly message: string;
  /** Undefined if all are noted already. */
  readonly faults?: readonly StoredFault[] | undefined;
  /** Rows with faults that are not counted yet. */
  readonly moreFaulty?: number;
  /** Whether faulty rows at the end of the file are left out, too. */
  readonly leavesOutFaulty?: boolean;
};

/** Ends an import, and deletes its file. @throws {LeaseLostError} */
export async function endImport(db: Pool, { id, token }: Lease, end: ImportEnd): Promise<void> {
  await inTransaction(db, async (tx) => {
    await changeLeased(tx, {
      name: "end-import",
      text: `update import set status = $3, message = $4, faults = coalesce($5::jsonb, faults), rows_faulty = rows_faulty + $6,
               rows_left_out = case when $7 then rows_faulty + $6 else rows_left_out end, ended_at = clock_timestamp(),
               lease_token = null, leased_until = null
             where id = $1 and lease_token = $2`,
      values: [
        id,
        token,
        end.status,
        end.message,
        end.faults === undefined ? null : JSON.stringify(end.faults),
        end.moreFaulty ?? 0,
        end.leavesOutFaulty ?? false,
      ],
    });
    await deleteParts(tx, id);
  });
}

/** Lets an import go that has not ended: any process may continue it. It counts as no attempt. */
export async function releaseImport(db: Queryable, { id, token }: Lease): Promise<void> {
  await db.query({
    name: "release-import",
    text: `update import set lease_token = null, leased_until = null, attempts = greatest(attempts - 1, 0)
           where id = $1 and lease_token = $2`,
    values: [id, token],
  });
}

/** Lets an import go that could not get on, so that it is tried again after `seconds`. */
export async function postponeImport(
  db: Queryable,
  { id, token }: Lease,
  seconds: number,
): Promise<void> {
  await db.query({
    name: "postpone-import",
    text: `update import set lease_token = null, leased_until = now() + make_interval(secs => $3)
           where id = $1 and lease_token = $2`,
    values: [id, token, seconds],
  });
}

async function changeLeased(
  db: Queryable,
  statement: Parameters<Queryable["query"]>[0],
): Promise<void> {
  const { rowCount } = await db.query(statement);
  if (rowCount === 0) throw new LeaseLostError();
}
