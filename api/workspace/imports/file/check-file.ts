import type { FaultList } from "./fault-list.ts";
import { fileRows } from "./file-rows.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { ImportedRow } from "./imported-row.ts";
import { lookUpRows } from "./look-up-rows.ts";
import { rowBatches } from "./row-batches.ts";
import { faultsOfRow } from "./row-faults.ts";

export type Checked = {
  readonly rows: number;
  /** Rows that this import had written or left out before it was interrupted. They are not checked again. */
  readonly handled: number;
  /** Counts rows without faults. */
  readonly toCreate: number;
  readonly toUpdate: number;
  /** Rows that an earlier run of the same file has written. */
  readonly alreadyWritten: number;
};

/**
 * Checks every row of a file and writes nothing. Adds faults to `faults`. Awaits `done` after each batch with its number of rows and the counts
 * up to its end.
 * @throws {FileFault} for a file that cannot be read.
 */
export async function checkFile(
  plan: ImportPlan,
  faults: FaultList,
  done: (rows: number, checked: Checked) => void | Promise<void>,
): Promise<Checked> {
  const seen = new Map<string, number>();
  const counts = { rows: 0, handled: 0, toCreate: 0, toUpdate: 0, alreadyWritten: 0 };
  for await (const batch of rowBatches(fileRows(plan), plan.batchRows)) {
    plan.interruption.throwIfAborted();
    const { context } = await plan.caller();
    for (const row of await lookUpRows(context, plan, batch)) {
      counts.rows += 1;
      if (row.number <= plan.handledUpTo) {
        counts.handled += 1;
        faultOfKeySeen(plan, seen, row);
      } else if (isAlreadyWritten(plan, row)) {
        counts.alreadyWritten += 1;
      } else {
        const found = {
          ...(await faultsOfRow(context, plan.kind, row)),
          ...faultOfKeySeen(plan, seen, row),
        };
        if (Object.keys(found).length > 0) faults.add(row.number, found);
        else if (row.id === undefined) counts.toCreate += 1;
        else counts.toUpdate += 1;
      }
      if (isHopeless(plan, faults)) break;
      await plan.pace();
    }
    await done(batch.length, counts);
    if (isHopeless(plan, faults)) break;
  }
  return counts;
}

/** Whether the file has as many faulty rows as end its check. */
export function isHopeless(
  {
    skipsFaulty,
    faultyRowsMax = Number.POSITIVE_INFINITY,
  }: Pick<ImportPlan, "skipsFaulty" | "faultyRowsMax">,
  faults: Pick<FaultList, "rows">,
): boolean {
  return !skipsFaulty && faults.rows.size >= faultyRowsMax;
}

/**
 * Whether an earlier run of the same file has written the row: it is at or before the last recorded row, and its record exists. A
 * row without a key cannot be distinguished from a new one and counts as written. A row that an earlier run left out is tried
 * again.
 */
export function isAlreadyWritten(
  { doneUpTo, isUpdate }: Pick<ImportPlan, "doneUpTo" | "isUpdate">,
  row: Pick<ImportedRow, "number" | "key" | "id">,
): boolean {
  if (isUpdate || row.number > doneUpTo) return false;
  return row.key === undefined || row.id !== undefined;
}

/** A file may contain a record only once. Remembers the key of the row. */
function faultOfKeySeen(
  { kind }: ImportPlan,
  seen: Map<string, number>,
  { key, number }: ImportedRow,
): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  const first = seen.get(key);
  if (first === undefined) seen.set(key, number);
  return first === undefined ? {} : { [kind.keyField]: `row ${first} has the same` };
}
