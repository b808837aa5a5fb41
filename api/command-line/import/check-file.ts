import type { OperationContext } from "../../operation.ts";
import type { FaultList } from "./fault-list.ts";
import { type FileRow, fileRows } from "./file-rows.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { ImportedRow } from "./imported-row.ts";
import { lookUpRows } from "./look-up-rows.ts";
import { rowBatches } from "./row-batches.ts";
import { faultsOfRow } from "./row-faults.ts";

export type Checked = {
  readonly rows: number;
  /** Counts rows without faults. */
  readonly toCreate: number;
  readonly toUpdate: number;
  /** Rows that an earlier run of the same file has written. */
  readonly alreadyWritten: number;
};

/**
 * Checks every row of a file and writes nothing. Adds faults to `faults`.
 * @throws {CommandError} for a file that cannot be read.
 */
export async function checkFile(
  context: OperationContext,
  plan: ImportPlan,
  faults: FaultList,
  done: (rows: number) => void,
): Promise<Checked> {
  const seen = new Map<string, number>();
  const counts = { rows: 0, toCreate: 0, toUpdate: 0, alreadyWritten: 0 };
  for await (const batch of rowBatches(fileRows(plan.file, plan.fieldKinds))) {
    plan.interruption.throwIfAborted();
    for (const row of await lookUp(context, plan, batch)) {
      counts.rows += 1;
      if (isAlreadyWritten(plan, row)) {
        counts.alreadyWritten += 1;
        continue;
      }
      const found = {
        ...(await faultsOfRow(context, plan.kind, row)),
        ...faultOfKeySeen(plan, seen, row),
      };
      if (Object.keys(found).length > 0) faults.add(row.number, found);
      else if (row.id === undefined) counts.toCreate += 1;
      else counts.toUpdate += 1;
    }
    done(batch.length);
  }
  return counts;
}

async function lookUp(
  context: OperationContext,
  plan: ImportPlan,
  batch: readonly FileRow[],
): Promise<ImportedRow[]> {
  return await lookUpRows(context, plan.kind, batch, plan);
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

/** A file may contain a record only once. */
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
