import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { creatorOf } from "./creator.ts";
import { type Checked, checkFile, isHopeless } from "./file/check-file.ts";
import { FaultList } from "./file/fault-list.ts";
import type { ImportPlan } from "./file/import-plan.ts";
import { ImportRecord } from "./file/import-record.ts";
import { fieldKindsOf } from "./file/imported-row.ts";
import { FaultyRow } from "./file/row-faults.ts";
import { writeFile } from "./file/write-file.ts";
import {
  beginWriting,
  type CheckProgress,
  type ImportEnd,
  type LeasedImport,
  noteCheck,
} from "./import-leases.ts";
import type { ImportMetrics } from "./import-metrics.ts";
import { IMPORTED } from "./imported-kinds.ts";
import { LeasedRecord } from "./leased-record.ts";
import { Pace } from "./pace.ts";
import { storedFaults } from "./stored-faults.ts";
import { storedFile } from "./stored-file.ts";
import type { StoredFault } from "./stored-import.ts";

/** Rows whose faults are stored. */
const FAULTY_ROWS_STORED_MAX = 200;
/** Rows between two looks at the rights of whoever sent the import. */
const BATCH_ROWS = 100;
/** Shorter than on the command line: other writers in this process wait for the same locks. */
const TRANSACTION_MS = 200;
/** How often the progress of a check is noted. Far more often than the lease runs out. */
const NOTE_EVERY_MS = 500;
const WORDS: ImportPlan["words"] = {
  update: "update=1",
  delimiter: (name) => `delimiter=${name}`,
};
const KEEP_THE_FILE =
  "so do not change the file: import it again with skip_faulty=1, which leaves only faulty rows out, " +
  "and import these, corrected, from a file of its own.";

/** What a process needs to carry out imports. */
export type CarryDeps = {
  readonly db: Pool;
  readonly metrics: ImportMetrics;
  /** The context of a request of this caller, over `db`. */
  readonly contextOf: (asked: {
    readonly principal: Principal;
    readonly leased: LeasedImport;
    readonly db: Pool;
  }) => OperationContext;
};

/** How an import got on: its end, or that `signal` interrupted it. */
export type Carried = ImportEnd | "interrupted";

/**
 * Checks the file of an import, and writes its rows. What an earlier lease has written or left out is not touched again. Stops after the present
 * rows when `signal` is aborted.
 * @throws {LeaseLostError} @throws {AnotherRunError} @throws {CreatorRefusedError}
 * @throws {FileFault} for a file that cannot be read.
 */
export async function carryImport(
  deps: CarryDeps,
  leased: LeasedImport,
  signal: AbortSignal,
): Promise<Carried> {
  const faults = new FaultList(FAULTY_ROWS_STORED_MAX);
  const earlierFaults = leased.faults.filter(({ row }) => row <= leased.lastRow);
  const plan = await planOf(deps, leased, { faults, earlierFaults, signal });
  const checking = new CheckNotes(deps, leased, { faults, earlierFaults });
  let checked: CheckProgress;
  try {
    const done = async (_rows: number, sofar: Checked): Promise<void> => await checking.note(sofar);
    checked = await checking.noteLast(await checkFile(plan, faults, done));
  } catch (error) {
    if (signal.aborted) return "interrupted";
    throw error;
  }
  const faulty = faults.rows.size;
  const some = faultyOf(checked, faulty, isHopeless(plan, faults));
  if (leased.isDryRun)
    return { status: "done", message: isHopeless(plan, faults) ? `${some}.` : "" };
  if (faulty > 0 && !leased.skipsFaulty) return refusal(leased, checked, some);
  await beginWriting(deps.db, leased);
  try {
    await writeFile(plan, faults, () => undefined);
  } catch (error) {
    if (error instanceof FaultyRow) return failure(earlierFaults, error);
    throw error;
  }
  if (signal.aborted) return "interrupted";
  return { status: "done", message: "", leavesOutFaulty: true };
}

async function planOf(
  { db, metrics, contextOf }: CarryDeps,
  leased: LeasedImport,
  {
    faults,
    earlierFaults,
    signal,
  }: {
    readonly faults: FaultList;
    readonly earlierFaults: readonly StoredFault[];
    readonly signal: AbortSignal;
  },
): Promise<ImportPlan> {
  const kind = IMPORTED[leased.kind];
  const { workspace, actor } = await creatorOf(db, leased);
  const record = new ImportRecord(leased.recordId, {
    principal: { actor, workspace },
    action: "rest POST /imports",
  });
  const pace = new Pace();
  return {
    kind,
    file: {
      name: "the file",
      format: leased.format,
      delimiter: leased.delimiter,
      bytes: () => storedFile(db, leased),
    },
    fieldKinds: fieldKindsOf(kind),
    isUpdate: leased.isUpdate,
    skipsFaulty: leased.skipsFaulty,
    faultyRowsMax: FAULTY_ROWS_STORED_MAX,
    words: WORDS,
    caller: async () => {
      const principal = await creatorOf(db, leased);
      const contextOn = (pool: Pool) => contextOf({ principal, leased, db: pool });
      return { context: contextOn(db), contextOn };
    },
    record: new LeasedRecord(leased, { record, faults, earlierFaults, metrics }),
    doneUpTo: await record.lastRow({ db, workspace }),
    handledUpTo: leased.lastRow,
    batchRows: BATCH_ROWS,
    transactionMs: TRANSACTION_MS,
    pace: async () => await pace.next(),
    interruption: signal,
  };
}

/** Notes the progress of a check now and then, with those faults that are new. */
class CheckNotes {
  readonly #db: Pool;
  readonly #leased: LeasedImport;
  readonly #faults: FaultList;
  readonly #earlierFaults: readonly StoredFault[];
  #notedAtMs = performance.now();
  #notedFaults = 0;

  constructor(
    { db }: Pick<CarryDeps, "db">,
    leased: LeasedImport,
    {
      faults,
      earlierFaults,
    }: { readonly faults: FaultList; readonly earlierFaults: readonly StoredFault[] },
  ) {
    this.#db = db;
    this.#leased = leased;
    this.#faults = faults;
    this.#earlierFaults = earlierFaults;
  }

  async note(checked: Checked): Promise<void> {
    if (performance.now() - this.#notedAtMs >= NOTE_EVERY_MS) await this.noteLast(checked);
  }

  async noteLast(checked: Checked): Promise<CheckProgress> {
    const progress = this.#progressOf(checked);
    const { kept } = this.#faults;
    const isNew = kept.length !== this.#notedFaults || this.#leased.faults.length > 0;
    const faults = isNew ? [...this.#earlierFaults, ...storedFaults(kept)] : undefined;
    await noteCheck(this.#db, this.#leased, { checked: progress, faults });
    this.#notedAtMs = performance.now();
    this.#notedFaults = kept.length;
    return progress;
  }

  /** With what earlier leases have done: every row that they handled was written by them, left out, or written before this import. */
  #progressOf(checked: Checked): CheckProgress {
    const { rowsCreated, rowsUpdated, rowsLeftOut } = this.#leased;
    const before = checked.handled - rowsCreated - rowsUpdated - rowsLeftOut;
    return {
      ...checked,
      toCreate: rowsCreated + checked.toCreate,
      toUpdate: rowsUpdated + checked.toUpdate,
      alreadyWritten: Math.max(before, 0) + checked.alreadyWritten,
      faulty: rowsLeftOut + this.#faults.rows.size,
    };
  }
}

/** How many rows are faulty, as the beginning of a sentence. */
function faultyOf({ rows }: CheckProgress, faulty: number, isEnded: boolean): string {
  if (isEnded)
    return `${faulty} of the first ${rows} rows have faults, and the others were not checked`;
  return `${faulty} of ${rows} rows ${faulty === 1 ? "has" : "have"} faults`;
}

/** The check of a file that is imported whole or not at all found faults. */
function refusal(
  { rowsCreated, rowsUpdated }: LeasedImport,
  { alreadyWritten }: CheckProgress,
  some: string,
): ImportEnd {
  const written = rowsCreated + rowsUpdated;
  if (written > 0) {
    const message = `Stopped: ${some}. ${written} rows are written, ${KEEP_THE_FILE}`;
    return { status: "failed", message };
  }
  const advice =
    alreadyWritten > 0
      ? `An earlier import of this file has written ${alreadyWritten} rows, ${KEEP_THE_FILE}`
      : "Fix them, or leave them out with skip_faulty=1.";
  return { status: "refused", message: `${some}, so nothing was written. ${advice}` };
}

/** A row was refused that had no fault when the file was checked. */
function failure(earlierFaults: readonly StoredFault[], { number, faults }: FaultyRow): ImportEnd {
  const found = new FaultList(1);
  found.add(number, faults);
  return {
    status: "failed",
    message:
      `Stopped at row ${number}, which had no fault when the file was checked. The rows before it may already be ` +
      `written, ${KEEP_THE_FILE}`,
    faults: [...earlierFaults, ...storedFaults(found.kept)],
    moreFaulty: 1,
  };
}
