import type { FieldFaults, OperationContext } from "../../../operation/operation.ts";
import type { FaultList } from "./fault-list.ts";
import { fileRows } from "./file-rows.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { GrowingProgress } from "./import-progress.ts";
import type { ImportedRow } from "./imported-row.ts";
import { lookUpRows } from "./look-up-rows.ts";
import { rowBatches } from "./row-batches.ts";
import { faultsOfRow } from "./row-faults.ts";
import { RequestYield } from "./yield-to-requests.ts";

/**
 * Checks every row of a file and writes nothing. Adds to `progress`. `doneUpTo` is the last row that an earlier run of the same file has handled.
 * @throws {FileFault} for a file that cannot be read, and what `plan.interruption` is aborted with.
 */
export async function checkFile(
  plan: ImportPlan,
  progress: GrowingProgress,
  doneUpTo: number,
): Promise<void> {
  const seen = new Map<string, number>();
  const requestYield = new RequestYield();
  for await (const batch of rowBatches(fileRows(plan))) {
    plan.interruption.throwIfAborted();
    const { context } = await plan.caller();
    for (const row of await lookUpRows(context, plan, batch)) {
      progress.rows += 1;
      const isDone = isAlreadyWritten(plan, row, doneUpTo);
      const faults = await faultsOf(context, plan, { row, seen, isDone });
      if (Object.keys(faults).length > 0) progress.faults.add(row.number, faults);
      else if (isDone) progress.alreadyWritten += 1;
      else if (row.id === undefined) progress.toCreate += 1;
      else progress.toUpdate += 1;
      if (isHopeless(plan, progress.faults)) break;
      await requestYield.next();
    }
    await plan.onProgress(progress);
    if (isHopeless(plan, progress.faults)) break;
  }
}

/** Whether the file has so many faulty rows that its check ends. */
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
 * row without a key cannot be distinguished from a new one and counts as written, unless it has a fault. A row that an earlier run left out
 * is tried again.
 */
export function isAlreadyWritten(
  { isUpdate }: Pick<ImportPlan, "isUpdate">,
  row: Pick<ImportedRow, "number" | "key" | "id">,
  doneUpTo: number,
): boolean {
  if (isUpdate || row.number > doneUpTo) return false;
  return row.key === undefined || row.id !== undefined;
}

/** A row whose record exists needs no check. A row without a key may have been left out for its faults. */
async function faultsOf(
  context: OperationContext,
  plan: ImportPlan,
  {
    row,
    seen,
    isDone,
  }: {
    readonly row: ImportedRow;
    readonly seen: Map<string, number>;
    readonly isDone: boolean;
  },
): Promise<FieldFaults> {
  if (isDone && row.key !== undefined) return {};
  return { ...(await faultsOfRow(context, plan.kind, row)), ...faultOfKeySeen(plan, seen, row) };
}

/** A file may contain a record only once. Remembers the key of the row. */
function faultOfKeySeen(
  { kind }: ImportPlan,
  seen: Map<string, number>,
  { key, number }: ImportedRow,
): FieldFaults {
  if (key === undefined) return {};
  const first = seen.get(key);
  if (first === undefined) seen.set(key, number);
  return first === undefined ? {} : { [kind.keyField]: `row ${first} has the same` };
}
