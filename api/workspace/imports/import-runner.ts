import type { Log } from "../../../schemas/host/log.ts";
import { pause } from "../../../schemas/host/pause.ts";
import { isPostgresAway } from "../../../schemas/postgres/errors.ts";
import { withoutRows } from "../../http/without-rows.ts";
import { type CarryDeps, carryImport, type ImportEnd } from "./carry-import.ts";
import { CreatorRefusedError } from "./creator.ts";
import { FileFault } from "./file/file-fault.ts";
import { AnotherRunError } from "./file/import-record.ts";
import {
  beginRun,
  countWaitingImports,
  endRun,
  type ImportRun,
  leaveRun,
  RunOverError,
} from "./import-runs.ts";
import { storableText } from "./stored-faults.ts";
import { deleteAbandonedUploads } from "./uploads.ts";

/** How often a process looks for imports of other processes. Its own ones wake it. */
const LOOK_EVERY_MS = 2_000;
const CLEAN_EVERY_MS = 60_000;
/** After a failure, so that an import is tried again when its cause may be over. */
const RETRY_SECONDS = 10;
/** Runs without a row written, after which an import is given up: it may be what ends the processes. */
const ATTEMPTS_MAX = 5;
const MESSAGE_MAX = 2_000;

export type RunnerDeps = CarryDeps & { readonly log: Log };

/**
 * Runs imports, one at a time in each process, oldest first. Closing leaves an import after its present rows, and another process runs it at once. See
 * `stored-import.ts` for the states of an import.
 */
export class ImportRunner {
  readonly #deps: RunnerDeps;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #cleanedAtMs = 0;
  /** A run that Postgres has ended by being away. */
  #broken: ImportRun | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** An import of this process is due. */
  wake(): void {
    this.#wake.abort();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // Replaced before looking, so that what becomes due meanwhile is not slept over.
      this.#wake = new AbortController();
      if (!(await this.#round()) && !this.#stop.signal.aborted)
        await pause(LOOK_EVERY_MS, this.#wake.signal);
    }
    await this.#leaveBroken().catch((error: unknown) => {
      // Another process runs it when it counts as killed.
      this.#deps.log.warn({ err: withoutRows(error) }, "import.not-left");
    });
  }

  async #leaveBroken(): Promise<void> {
    if (this.#broken === undefined) return;
    await leaveRun(this.#deps.db, this.#broken, { seconds: 0, counts: false });
    this.#broken = undefined;
  }

  /** Whether there may be more to do at once. */
  async #round(): Promise<boolean> {
    const { db, log, metrics } = this.#deps;
    try {
      await this.#leaveBroken();
      metrics.waiting(await countWaitingImports(db));
      await this.#clean();
      const run = await beginRun(db);
      return run !== undefined && (await this.#carry(run));
    } catch (error) {
      metrics.waiting(undefined);
      if (!this.#stop.signal.aborted)
        log.warn({ err: withoutRows(error) }, "imports.not-looked-for");
      return false;
    }
  }

  async #clean(): Promise<void> {
    const nowMs = performance.now();
    if (this.#cleanedAtMs > 0 && nowMs - this.#cleanedAtMs < CLEAN_EVERY_MS) return;
    await deleteAbandonedUploads(this.#deps.db);
    this.#cleanedAtMs = nowMs;
  }

  async #carry(run: ImportRun): Promise<boolean> {
    const { db, log } = this.#deps;
    const startedAtMs = performance.now();
    log.info({ importId: run.id, attempt: run.attempts }, "import.begun");
    try {
      const end = await this.#endOf(run);
      if (end === "interrupted") {
        await leaveRun(db, run, { seconds: 0, counts: false });
        log.info({ importId: run.id }, "import.left");
        return false;
      }
      await endRun(db, run, end);
      this.#noteEnd(run, end, performance.now() - startedAtMs);
      return true;
    } catch (error) {
      await this.#afterError(run, error);
      return false;
    }
  }

  /** Turns every way in which an import itself ends into that end. Others are thrown. */
  async #endOf(run: ImportRun): Promise<ImportEnd | "interrupted"> {
    try {
      if (run.attempts > ATTEMPTS_MAX) return givenUp(run);
      return await carryImport(this.#deps, run, this.#stop.signal);
    } catch (error) {
      if (error instanceof FileFault) {
        const message = storableText(capitalized(error.message), MESSAGE_MAX);
        return { status: "refused", message };
      }
      if (error instanceof CreatorRefusedError) {
        const message = `The sender may no longer import ${run.kind}: ${error.message}.`;
        return { status: "stopped", message };
      }
      throw error;
    }
  }

  /** A run ended without its import, for reasons that lie outside of it. */
  async #afterError(run: ImportRun, error: unknown): Promise<void> {
    const { db, log } = this.#deps;
    const importId = run.id;
    if (error instanceof RunOverError) {
      log.info({ importId }, "import.run-over");
      return;
    }
    if (isPostgresAway(error)) {
      log.warn({ err: withoutRows(error), importId }, "import.postponed");
      this.#broken = run;
      return;
    }
    const counts = !(error instanceof AnotherRunError);
    log[counts ? "error" : "warn"]({ err: withoutRows(error), importId }, "import.failed");
    await leaveRun(db, run, { seconds: RETRY_SECONDS, counts });
  }

  #noteEnd({ id, kind, workspaceId }: ImportRun, { status }: ImportEnd, tookMs: number): void {
    const { log, metrics } = this.#deps;
    metrics.ended(status);
    log.info({ importId: id, kind, workspaceId, status, ms: Math.round(tookMs) }, "import.ended");
  }
}

function givenUp({ id }: ImportRun): ImportEnd {
  const message = `Given up after ${ATTEMPTS_MAX} attempts without progress. The log of the service has the reasons under importId ${id}.`;
  return { status: "failed", message };
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
