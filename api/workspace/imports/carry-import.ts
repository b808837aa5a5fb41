import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import type { SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { creatorOf } from "./creator.ts";
import { importFile } from "./file/import-file.ts";
import type { ImportPlan } from "./file/import-plan.ts";
import type { ImportProgress } from "./file/import-progress.ts";
import { ImportRecord } from "./file/import-record.ts";
import { fieldKindsOf } from "./file/imported-row.ts";
import type { ImportMetrics } from "./import-metrics.ts";
import { type ImportRun, noteRun, type RunNote } from "./import-runs.ts";
import { IMPORTED } from "./imported-kinds.ts";
import { storedFaults } from "./stored-faults.ts";
import { storedFile } from "./stored-file.ts";
import type { EndedStatus } from "./stored-import.ts";

/** Rows whose faults are stored. */
const FAULTY_ROWS_STORED_MAX = 200;
/** How often progress is noted beside the transactions that write rows. Far more often than a run must. */
const NOTE_EVERY_MS = 500;
const WORDS: ImportPlan["words"] = {
  update: "update=1",
  skipFaulty: "skip_faulty=1",
  delimiter: (name) => `delimiter=${name}`,
};

/** What a process needs to carry out imports. */
export type CarryDeps = {
  readonly db: Pool;
  readonly secretKeys: SecretKeys;
  readonly metrics: ImportMetrics;
  /** The context of a request of this caller, over `db`. */
  readonly contextOf: (asked: {
    readonly principal: Principal;
    readonly run: ImportRun;
    readonly db: Pool;
  }) => OperationContext;
};

/** How an import ended. */
export type ImportEnd = { readonly status: EndedStatus; readonly message: string };

/**
 * Runs an import, from the start of its file. Rows that an earlier run has written are left as they are. Stops after the present rows when
 * `signal` is aborted.
 * @throws {RunOverError} @throws {AnotherRunError} @throws {CreatorRefusedError}
 * @throws {FileFault} for a file that cannot be read.
 */
export async function carryImport(
  deps: CarryDeps,
  run: ImportRun,
  signal: AbortSignal,
): Promise<ImportEnd | "interrupted"> {
  const notes = new RunNotes(deps, run);
  const { status, message, progress } = await importFile(
    await planOf(deps, run, { notes, signal }),
  );
  if (status === "interrupted") return status;
  await notes.noteLast(progress);
  if (status === "checked" || status === "written") return { status: "done", message };
  const isInTheMiddle = status === "failed" || run.rowsCreated + run.rowsUpdated > 0;
  return { status: isInTheMiddle ? "failed" : "refused", message };
}

async function planOf(
  { db, secretKeys, contextOf }: CarryDeps,
  run: ImportRun,
  { notes, signal }: { readonly notes: RunNotes; readonly signal: AbortSignal },
): Promise<ImportPlan> {
  const kind = IMPORTED[run.kind];
  const { workspace, actor } = await creatorOf(db, run);
  return {
    kind,
    file: {
      name: "the file",
      format: run.format,
      delimiter: run.delimiter,
      bytes: () => storedFile(db, secretKeys, run),
    },
    fieldKinds: fieldKindsOf(kind),
    isDryRun: run.isDryRun,
    isUpdate: run.isUpdate,
    skipsFaulty: run.skipsFaulty,
    faultyRowsMax: FAULTY_ROWS_STORED_MAX,
    keptRowsMax: FAULTY_ROWS_STORED_MAX,
    words: WORDS,
    caller: async () => {
      const principal = await creatorOf(db, run);
      const contextOn = (pool: Pool) => contextOf({ principal, run, db: pool });
      return { context: contextOn(db), contextOn };
    },
    record: new ImportRecord(run.recordId, {
      principal: { actor, workspace },
      action: "rest POST /imports",
    }),
    onProgress: async (progress) => await notes.noteNowAndThen(progress),
    onWrite: async (tx, progress) => await notes.noteWithin(tx, progress),
    interruption: signal,
  };
}

/**
 * Notes the progress of a run in its import. The transaction that writes rows notes them, too, so an import shows what it has written, and a run
 * that is over writes nothing.
 */
class RunNotes {
  readonly #deps: CarryDeps;
  readonly #run: ImportRun;
  #notedAtMs = 0;
  #notedFaults = -1;
  /** What the metrics have of this run. */
  #counted = { created: 0, updated: 0, faulty: 0 };

  constructor(deps: CarryDeps, run: ImportRun) {
    this.#deps = deps;
    this.#run = run;
  }

  async noteNowAndThen(progress: ImportProgress): Promise<void> {
    this.#count(progress);
    if (performance.now() - this.#notedAtMs >= NOTE_EVERY_MS) await this.noteLast(progress);
  }

  async noteLast(progress: ImportProgress): Promise<void> {
    this.#count(progress);
    await this.noteWithin(this.#deps.db, progress);
    this.#notedAtMs = performance.now();
    this.#notedFaults = progress.faults.kept.length;
  }

  /** Notes in a transaction, which may be undone: so a later note has the faults again. */
  async noteWithin(tx: Queryable, progress: ImportProgress): Promise<void> {
    const { kept } = progress.faults;
    const faults = kept.length === this.#notedFaults ? undefined : storedFaults(kept);
    await noteRun(tx, this.#run, { ...noteOf(this.#run, progress), faults });
  }

  #count({ phase, created, updated, faults }: ImportProgress): void {
    const now = { created, updated, faulty: faults.rows.size };
    const before = this.#counted;
    this.#counted = now;
    if (phase === "checking") return;
    this.#deps.metrics.written({
      created: created - before.created,
      updated: updated - before.updated,
      refused: now.faulty - before.faulty,
    });
  }
}

/**
 * Adds what earlier runs of the import have done. To this run, rows that they created are already written, or it changes them once more, which
 * changes nothing.
 */
function noteOf(
  { rowsCreated, rowsUpdated }: ImportRun,
  { phase, rows, leftOut, faults, ...run }: ImportProgress,
): RunNote {
  const changed = (count: number): number => Math.max(rowsUpdated, count - rowsCreated);
  return {
    status: phase,
    rows,
    toCreate: rowsCreated + run.toCreate,
    toUpdate: changed(run.toUpdate),
    alreadyWritten: Math.max(0, run.alreadyWritten - rowsCreated),
    created: rowsCreated + run.created,
    updated: changed(run.updated),
    leftOut,
    faulty: faults.rows.size,
  };
}
