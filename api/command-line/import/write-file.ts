import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE } from "../../../schemas/postgres/errors.ts";
import { inTransaction, poolWithin } from "../../../schemas/postgres/transaction.ts";
import type { OperationContext } from "../../operation.ts";
import type { Session } from "../session.ts";
import { isAlreadyWritten } from "./check-file.ts";
import type { FaultList } from "./fault-list.ts";
import { fileRows } from "./file-rows.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { ImportedRow } from "./imported-row.ts";
import { lookUpRows } from "./look-up-rows.ts";
import { rowBatches } from "./row-batches.ts";
import { FaultyRow, writeRow } from "./row-faults.ts";

/** Writers of the catalog wait for one lock and give up after two seconds, so a transaction must stay far below that. */
const TRANSACTION_MS = 500;
const LOCK_TRIES_MAX = 10;

export type Written = { readonly created: number; readonly updated: number };

/**
 * Writes the rows of a checked file, except those in `faults`. A row that is refused only now is added to `faults`. Ends early when
 * interrupted.
 * @throws {FaultyRow} for such a row unless faulty rows are skipped.
 * @throws {CommandError} when another run of the same import has written meanwhile.
 */
export async function writeFile(
  session: Session,
  plan: ImportPlan,
  faults: FaultList,
  done: (rows: number) => void,
): Promise<Written> {
  const written = { created: 0, updated: 0 };
  for await (const batch of rowBatches(fileRows(plan.file, plan.fieldKinds))) {
    const looked = await lookUpRows(session.context, plan.kind, batch, plan);
    let rest = looked.filter((row) => !faults.rows.has(row.number) && !isAlreadyWritten(plan, row));
    while (rest.length > 0) {
      if (plan.interruption.aborted) return written;
      const part = await writePart(session, plan, rest);
      for (const { number, faults: found } of part.refused) faults.add(number, found);
      plan.record.hasNoted(part.note);
      written.created += part.created;
      written.updated += part.updated;
      rest = rest.slice(part.rows);
    }
    done(batch.length);
  }
  return written;
}

type Part = {
  /** Number of rows written or refused: as many as fit into TRANSACTION_MS. */
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly refused: readonly FaultyRow[];
  /** The entry of the audit log that records it. */
  readonly note: number;
};

/** Runs one transaction. It is tried again if another writer holds the catalog lock for too long. */
async function writePart(
  session: Session,
  plan: ImportPlan,
  rows: readonly ImportedRow[],
): Promise<Part> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(
        session.context.db,
        async (tx) => await writeWithin(tx, session, { plan, rows }),
      );
    } catch (error) {
      if (postgresCode(error) !== SQLSTATE.lockNotAvailable || tries === LOCK_TRIES_MAX)
        throw error;
    }
  }
}

async function writeWithin(
  tx: Queryable,
  session: Session,
  { plan, rows }: { readonly plan: ImportPlan; readonly rows: readonly ImportedRow[] },
): Promise<Part> {
  const endMs = Date.now() + TRANSACTION_MS;
  const context = session.contextOn(poolWithin(tx));
  const refused: FaultyRow[] = [];
  const counts = { rows: 0, created: 0, updated: 0 };
  await plan.record.assertOnlyRun(tx, context);
  for (const row of rows) {
    const fault = await writeOrRefuse(context, plan, row);
    counts.rows += 1;
    if (fault !== undefined) refused.push(fault);
    else if (row.id === undefined) counts.created += 1;
    else counts.updated += 1;
    if (Date.now() >= endMs) break;
  }
  const last = rows[counts.rows - 1]?.number ?? 0;
  const note = await plan.record.note(tx, context, { first: rows[0]?.number ?? 0, last });
  return { ...counts, refused, note };
}

/**
 * If faulty rows are skipped, each row gets a savepoint that can be rolled back. Otherwise the first refused row ends everything.
 */
async function writeOrRefuse(
  context: OperationContext,
  plan: ImportPlan,
  row: ImportedRow,
): Promise<FaultyRow | undefined> {
  if (!plan.skipsFaulty) {
    await writeRow(context, plan.kind, row);
    return undefined;
  }
  try {
    await inTransaction(context.db, async () => await writeRow(context, plan.kind, row));
    return undefined;
  } catch (error) {
    if (error instanceof FaultyRow) return error;
    throw error;
  }
}
