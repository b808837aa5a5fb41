import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE } from "../../../../schemas/postgres/errors.ts";
import { inTransaction, poolWithin } from "../../../../schemas/postgres/transaction.ts";
import type { OperationContext } from "../../../operation/operation.ts";
import { isAlreadyWritten } from "./check-file.ts";
import type { FaultList } from "./fault-list.ts";
import { fileRows } from "./file-rows.ts";
import type { ImportCaller, ImportPlan, WrittenPart } from "./import-plan.ts";
import type { ImportedRow } from "./imported-row.ts";
import { lookUpRows } from "./look-up-rows.ts";
import { rowBatches } from "./row-batches.ts";
import { FaultyRow, writeRow } from "./row-faults.ts";

const LOCK_TRIES_MAX = 10;

export type Written = { readonly created: number; readonly updated: number };

/**
 * Writes the rows of a checked file, except those in `faults`. A row that is refused only now is added to `faults`. Ends early when
 * interrupted.
 * @throws {FaultyRow} for such a row unless faulty rows are skipped.
 * @throws {AnotherRunError} when another run of the same import has written meanwhile.
 */
export async function writeFile(
  plan: ImportPlan,
  faults: FaultList,
  done: (rows: number) => void,
): Promise<Written> {
  const written = { created: 0, updated: 0 };
  /** Rows that are left out, in front of the next part. */
  let leftOut: readonly number[] = [];
  for await (const batch of rowBatches(fileRows(plan), plan.batchRows)) {
    const { context } = await plan.caller();
    const looked = await lookUpRows(context, plan, batch);
    const open = looked.filter(
      (row) => row.number > plan.handledUpTo && !isAlreadyWritten(plan, row),
    );
    leftOut = [
      ...leftOut,
      ...open.flatMap(({ number }) => (faults.rows.has(number) ? [number] : [])),
    ];
    let rest = open.filter(({ number }) => !faults.rows.has(number));
    while (rest.length > 0) {
      if (plan.interruption.aborted) return written;
      const part = await writePart(plan, await plan.caller(), { rows: rest, leftOut });
      if (part === undefined) return written;
      for (const { number, faults: found } of part.refused) faults.add(number, found);
      plan.record.hasNoted(part.note);
      written.created += part.created;
      written.updated += part.updated;
      rest = rest.slice(part.rows);
      leftOut = leftOut.filter((number) => number > part.last);
    }
    done(batch.length);
  }
  return written;
}

type Open = {
  readonly rows: readonly ImportedRow[];
  readonly leftOut: readonly number[];
};

type Part = WrittenPart & {
  /** Number of rows written or refused: as many as fit into the time of a transaction. */
  readonly rows: number;
  /** What records it. */
  readonly note: number;
};

/**
 * Runs one transaction. It is tried again if another writer holds the catalog lock for too long. Undefined if it was interrupted before it could
 * write.
 */
async function writePart(
  plan: ImportPlan,
  caller: ImportCaller,
  open: Open,
): Promise<Part | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(
        caller.context.db,
        async (tx) => await writeWithin(tx, plan, { caller, open }),
      );
    } catch (error) {
      if (postgresCode(error) !== SQLSTATE.lockNotAvailable) throw error;
      if (plan.interruption.aborted) return undefined;
      if (tries === LOCK_TRIES_MAX) throw error;
    }
  }
}

async function writeWithin(
  tx: Queryable,
  plan: ImportPlan,
  { caller, open }: { readonly caller: ImportCaller; readonly open: Open },
): Promise<Part> {
  const endMs = Date.now() + plan.transactionMs;
  const context = caller.contextOn(poolWithin(tx));
  const refused: FaultyRow[] = [];
  const counts = { rows: 0, created: 0, updated: 0 };
  await plan.record.begin(tx, context);
  for (const row of open.rows) {
    const fault = await writeOrRefuse(context, plan, row);
    counts.rows += 1;
    if (fault !== undefined) refused.push(fault);
    else if (row.id === undefined) counts.created += 1;
    else counts.updated += 1;
    await plan.pace();
    if (Date.now() >= endMs) break;
  }
  const last = open.rows[counts.rows - 1]?.number ?? 0;
  const before = open.leftOut.filter((number) => number < last).length;
  const part: Omit<Part, "note"> = {
    ...counts,
    first: open.rows[0]?.number ?? 0,
    last,
    leftOut: before + refused.length,
    refused,
  };
  return { ...part, note: await plan.record.note(tx, context, part) };
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
