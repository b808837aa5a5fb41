import { checkFile, isHopeless } from "./check-file.ts";
import { FaultList } from "./fault-list.ts";
import type { ImportPlan } from "./import-plan.ts";
import { beginProgress, type ImportProgress } from "./import-progress.ts";
import { FaultyRow } from "./row-faults.ts";
import { writeFile } from "./write-file.ts";

/** What a run came to. `refused`: the check found faults, and this run has written nothing. `failed`: a row was refused only while it was written. */
export type ImportedFile = {
  readonly status: "checked" | "refused" | "written" | "failed" | "interrupted";
  /** For people; "" if there is nothing to say. */
  readonly message: string;
  readonly progress: ImportProgress;
};

/**
 * Checks the whole file, then writes its rows in the order of the file, in transactions of at most `TRANSACTION_MS`. A transaction writes its rows
 * and their note in the audit log, or nothing. A run that was killed is repeated: the notes tell which rows are written, so none is written twice.
 * @throws {FileFault} for a file that cannot be read. @throws {AnotherRunError} when another run of the same file has written meanwhile.
 */
export async function importFile(plan: ImportPlan): Promise<ImportedFile> {
  const progress = beginProgress(new FaultList(plan.keptRowsMax));
  const ended = (status: ImportedFile["status"], message = ""): ImportedFile => ({
    status,
    message,
    progress,
  });
  try {
    const doneUpTo = await plan.record.lastRow((await plan.caller()).context);
    await checkFile(plan, progress, doneUpTo);
    const { size } = progress.faults.rows;
    const isCut = isHopeless(plan, progress.faults);
    if (plan.isDryRun) return ended("checked", isCut ? `${faultyOf(progress, isCut)}.` : "");
    if (size > 0 && !plan.skipsFaulty) return ended("refused", refusal(plan, progress, isCut));
    progress.phase = "writing";
    await plan.onProgress(progress);
    await writeFile(plan, progress, doneUpTo);
    return ended("written");
  } catch (error) {
    if (error instanceof FaultyRow) return ended("failed", failure(plan, error));
    if (plan.interruption.aborted) return ended("interrupted");
    throw error;
  }
}

/** How many rows are faulty, as the beginning of a sentence. `isCut`: the check ended before the file did. */
export function faultyOf(
  { rows, faults: { rows: faulty } }: ImportProgress,
  isCut: boolean,
): string {
  const { size } = faulty;
  if (isCut)
    return `${size} of the first ${rows} rows have faults, and the others were not checked`;
  return `${size} of ${rows} rows ${size === 1 ? "has" : "have"} faults`;
}

function refusal(plan: ImportPlan, progress: ImportProgress, isCut: boolean): string {
  const some = faultyOf(progress, isCut);
  const { alreadyWritten } = progress;
  if (alreadyWritten > 0)
    return `${some}, so this run has written nothing. An earlier one has written ${alreadyWritten} rows, ${keepTheFile(plan)}`;
  return `${some}, so nothing was written. Fix them, or leave them out with ${plan.words.skipFaulty}.`;
}

function failure(plan: ImportPlan, { number }: FaultyRow): string {
  return (
    `Stopped at row ${number}, which had no fault when the file was checked. The rows before it may already be ` +
    `written, ${keepTheFile(plan)}`
  );
}

/** The content of the file identifies the import: with a changed file, rows without a key would be written again. */
function keepTheFile({ words: { skipFaulty } }: ImportPlan): string {
  return (
    `so do not change the file: import it again with ${skipFaulty}, which leaves only faulty rows out, ` +
    "and import these, corrected, from a file of its own."
  );
}
