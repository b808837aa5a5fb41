import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { ApiError } from "../../operation/errors.ts";
import { keyIdOf } from "../../operation/principal.ts";
import type { UpdateSender } from "./conversion-updates.ts";
import type { StoredUpdate } from "./stored-update.ts";

type Status = StoredUpdate["status"];
type Found = {
  readonly status: Status;
  readonly missing: "keep" | "reject";
  readonly applied_at: string | null;
};

/** Begins to apply a checked file. One that is applied already stays as it is. @throws {ApiError} `conflict` */
export async function beginToApply(db: Pool, id: number, sender: UpdateSender): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { status, missing } = await lockUpdate(tx, id);
    if (status === "applying" || status === "done") return;
    if (status !== "checked") throw conflict(`an update that is ${status} cannot be applied`);
    if (missing === "reject") {
      const unclear = await countUnclear(tx, id);
      if (unclear > 0)
        throw conflict(
          `${unclear} refused rows name no conversion clearly, so it is not known which conversions are missing: correct the file first`,
        );
    }
    await setPhase(tx, id, { status: "applying", sender });
  });
}

/** Begins to undo what a file has changed. @throws {ApiError} `conflict` */
export async function beginToUndo(db: Pool, id: number, sender: UpdateSender): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { status, applied_at: appliedAt } = await lockUpdate(tx, id);
    if (status === "undoing" || status === "undone") return;
    if (appliedAt === null || !["done", "stopped", "failed"].includes(status))
      throw conflict(`an update that is ${status} cannot be undone`);
    if (await isOnApprovedStatement(tx, id))
      throw conflict("an approved statement has conversions that this file has changed");
    await setPhase(tx, id, { status: "undoing", sender });
  });
}

/** Ends an update before its end. What it has changed stays, and can be undone. */
export async function stopUpdate(db: Pool, id: number, name: string): Promise<void> {
  await db.query({
    name: "stop-conversion-update",
    text: `update conversion_update
           set status = 'stopped', message = $2, ended_at = clock_timestamp(), counts = s.counts
           from summarize_conversion_update($1) s
           where id = $1 and status in ('checking', 'checked', 'applying')`,
    values: [id, `Stopped by ${name}.`],
  });
}

async function lockUpdate(tx: Queryable, id: number): Promise<Found> {
  const { rows } = await tx.query<Found>({
    name: "lock-conversion-update",
    text: "select status, missing, applied_at from conversion_update where id = $1 for update",
    values: [id],
  });
  const [found] = rows;
  if (found === undefined) throw conflict("the update was deleted");
  return found;
}

async function countUnclear(tx: Queryable, id: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: "count-unclear-update-rows",
    text: `select count(*)::integer as count from conversion_update_row
           where update_id = $1 and outcome = 'refused' and conversion_id is null`,
    values: [id],
  });
  return rows[0]?.count ?? 0;
}

async function isOnApprovedStatement(tx: Queryable, id: number): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>({
    name: "is-update-on-approved-statement",
    text: `select exists (
             select from conversion_update u, conversions_on_approved_statements(array(
               select r.conversion_id from conversion_update_row r
               where r.update_id = u.id and r.outcome = 'changed' and r.is_applied), u.applied_at)
             where u.id = $1) as found`,
    values: [id],
  });
  return rows[0]?.found ?? false;
}

async function setPhase(
  tx: Queryable,
  id: number,
  {
    status,
    sender: { principal, requestId },
  }: { readonly status: "applying" | "undoing"; readonly sender: UpdateSender },
): Promise<void> {
  const { actor } = principal;
  await tx.query({
    name: "set-phase-of-conversion-update",
    text: `update conversion_update
           set status = $2, position = 0, attempts = 0, due_at = '-infinity', message = '', ended_at = null, key_id = $3, person_id = $4,
             request_id = $5, applied_at = case when $2 = 'applying' then clock_timestamp() else applied_at end
           where id = $1`,
    values: [id, status, keyIdOf(actor), actor.kind === "person" ? actor.id : null, requestId],
  });
}

function conflict(message: string): ApiError {
  return new ApiError("conflict", message, { details: { field: "status" } });
}
