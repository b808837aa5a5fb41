import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE } from "../../../../schemas/postgres/errors.ts";
import { inTransaction, poolWithin } from "../../../../schemas/postgres/transaction.ts";
import type { OperationContext } from "../../../operation/operation.ts";
import { isAlreadyWritten } from "./check-file.ts";
import { fileRows } from "./file-rows.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { GrowingProgress, ImportProgress } from "./import-progress.ts";
import type { ImportedRow } from "./imported-row.ts";
import { lookUpRows } from "./look-up-rows.ts";
import { rowBatches } from "./row-batches.ts";
import { FaultyRow, writeRow } from "./row-faults.ts";
import { RequestYield } from "./yield-to-requests.ts";

/** A transaction ends at the next row after this time. Writers of the catalog wait 2 s for its one lock, so stay far below that. */
const TRANSACTION_MS = 200;
const LOCK_TRIES_MAX = 10;

/**
 * Writes the rows of a checked file, except faulty rows and rows that an earlier run has written.
 * @throws {FaultyRow} for a row that is refused only now, unless faulty rows are left out; it is in `progress.faults` in both cases.
 * @throws {AnotherRunError}, and what `plan.interruption` is aborted with.
 */
export async function writeFile(
  plan: ImportPlan,
  progress: GrowingProgress,
  doneUpTo: number,
): Promise<void> {
  const { rows: faulty } = progress.faults;
  for await (const batch of rowBatches(fileRows(plan))) {
    const { context } = await plan.caller();
    const right = batch.filter(({ number }) => !faulty.has(number));
    let open: readonly ImportedRow[] = (await lookUpRows(context, plan, right)).filter(
      (row) => !isAlreadyWritten(plan, row, doneUpTo),
    );
    while (open.length > 0) open = await writePart(plan, progress, open);
    progress.leftOut += batch.filter(({ number }) => faulty.has(number)).length;
    await plan.onProgress(progress);
  }
}

/**
 * Writes as many rows as fit into the time of one transaction. Returns the others. If faulty rows are left out and a row is refused, the
 * transaction is undone, and the rows before that row are written anew.
 */
async function writePart(
  plan: ImportPlan,
  progress: GrowingProgress,
  rows: readonly ImportedRow[],
): Promise<readonly ImportedRow[]> {
  try {
    const { note, after } = await transactionOf(plan, progress, rows);
    plan.record.hasNoted(note);
    const written = after.created + after.updated - progress.created - progress.updated;
    Object.assign(progress, { created: after.created, updated: after.updated });
    return rows.slice(written);
  } catch (error) {
    if (!(error instanceof FaultyRow)) throw error;
    progress.faults.add(error.number, error.faults);
    if (!plan.skipsFaulty) throw error;
    let before = rows.filter(({ number }) => number < error.number);
    while (before.length > 0) before = [...(await writePart(plan, progress, before))];
    return rows.filter(({ number }) => number > error.number);
  }
}

type Written = {
  readonly after: ImportProgress;
  /** Id of the note. */
  readonly note: number;
};

/** Runs one transaction. It is tried again if another writer holds the catalog lock for too long. */
async function transactionOf(
  plan: ImportPlan,
  progress: ImportProgress,
  rows: readonly ImportedRow[],
): Promise<Written> {
  for (let tries = 1; ; tries += 1) {
    plan.interruption.throwIfAborted();
    const { context, contextOn } = await plan.caller();
    try {
      return await inTransaction(context.db, async (tx) => {
        const within = contextOn(poolWithin(tx));
        return await writeWithin(tx, plan, { context: within, progress, rows });
      });
    } catch (error) {
      if (postgresCode(error) !== SQLSTATE.lockNotAvailable || tries === LOCK_TRIES_MAX)
        throw error;
    }
  }
}

async function writeWithin(
  tx: Queryable,
  plan: ImportPlan,
  {
    context,
    progress,
    rows,
  }: {
    readonly context: OperationContext;
    readonly progress: ImportProgress;
    readonly rows: readonly ImportedRow[];
  },
): Promise<Written> {
  const endMs = performance.now() + TRANSACTION_MS;
  const requestYield = new RequestYield();
  const after: GrowingProgress = { ...progress };
  let last = 0;
  await plan.record.begin(tx, context);
  for (const row of rows) {
    await writeRow(context, plan.kind, row);
    last = row.number;
    if (row.id === undefined) after.created += 1;
    else after.updated += 1;
    await requestYield.next();
    if (performance.now() >= endMs) break;
  }
  const note = await plan.record.note(tx, { first: rows[0]?.number ?? 0, last });
  await plan.onWrite?.(tx, after);
  return { after, note };
}
