import type { Log } from "../../../schemas/host/log.ts";
import { pause } from "../../../schemas/host/pause.ts";
import { isPostgresAway } from "../../../schemas/postgres/errors.ts";
import { withoutRows } from "../../http/without-rows.ts";
import { type Carried, type CarryDeps, carryImport } from "./carry-import.ts";
import { CreatorRefusedError } from "./creator.ts";
import { AnotherRunError } from "./file/another-run.ts";
import { FileFault } from "./file/file-fault.ts";
import {
  countOpenImports,
  endImport,
  type ImportEnd,
  type LeasedImport,
  LeaseLostError,
  leaseImport,
  postponeImport,
  releaseImport,
} from "./import-leases.ts";
import { storableText } from "./stored-faults.ts";
import { deleteAbandonedUploads } from "./uploads.ts";

/** How often a process looks for imports of other processes. Its own ones wake it. */
const LOOK_EVERY_MS = 2_000;
const CLEAN_EVERY_MS = 60_000;
/** After a failure, so that an import is tried again when its cause may be over. */
const RETRY_SECONDS = 10;
/** Leases without progress, after which an import is given up: it may be what ends the processes. */
const ATTEMPTS_MAX = 5;
const MESSAGE_MAX = 2_000;

export type RunnerDeps = CarryDeps & { readonly log: Log };

/**
 * Carries out imports, one at a time in each process, oldest first. An import is leased in Postgres, so of several processes one has it, and when
 * that one is killed another continues after the lease has run out. Closing lets an import go after its present rows, and another process
 * continues it at once.
 */
export class ImportRunner {
  readonly #deps: RunnerDeps;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #cleanedAtMs = 0;
  /** An import whose lease could not be given back, because Postgres was away. */
  #unreleased: LeasedImport | undefined;

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
    await this.#release().catch((error: unknown) => {
      // Another process continues after the lease has run out.
      this.#deps.log.warn({ err: withoutRows(error) }, "import.not-released");
    });
  }

  async #release(): Promise<void> {
    if (this.#unreleased !== undefined) await releaseImport(this.#deps.db, this.#unreleased);
    this.#unreleased = undefined;
  }

  /** Whether there may be more to do at once. */
  async #round(): Promise<boolean> {
    const { db, log, metrics } = this.#deps;
    try {
      await this.#release();
      const { waiting, due } = await countOpenImports(db);
      metrics.waiting(waiting);
      await this.#clean();
      const leased = due === 0 ? undefined : await leaseImport(db);
      if (leased === undefined) return false;
      return await this.#carry(leased);
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

  async #carry(leased: LeasedImport): Promise<boolean> {
    const { db, log } = this.#deps;
    const startedAtMs = performance.now();
    log.info({ importId: leased.id, attempt: leased.attempts }, "import.leased");
    try {
      const end = await this.#tryToCarry(leased);
      if (end === "interrupted") {
        await releaseImport(db, leased);
        log.info({ importId: leased.id }, "import.released");
        return false;
      }
      await endImport(db, leased, end);
      this.#noteEnd(leased, end, performance.now() - startedAtMs);
      return true;
    } catch (error) {
      await this.#letGo(leased, error);
      return false;
    }
  }

  /** Turns every way in which an import itself ends into that end. Others are thrown. */
  async #tryToCarry(leased: LeasedImport): Promise<Carried> {
    const { signal } = this.#stop;
    try {
      if (leased.attempts > ATTEMPTS_MAX) return givenUp(leased);
      return await carryImport(this.#deps, leased, signal);
    } catch (error) {
      if (error instanceof FileFault) {
        return {
          status: "refused",
          message: storableText(capitalized(error.message), MESSAGE_MAX),
        };
      }
      if (error instanceof CreatorRefusedError) {
        return {
          status: "stopped",
          message: `The sender may no longer import ${leased.kind}: ${error.message}.`,
        };
      }
      throw error;
    }
  }

  /** An import did not end, for reasons that lie outside of it. */
  async #letGo(leased: LeasedImport, error: unknown): Promise<void> {
    const { db, log } = this.#deps;
    const importId = leased.id;
    if (error instanceof LeaseLostError) {
      log.info({ importId }, "import.lease-lost");
      return;
    }
    if (error instanceof AnotherRunError || isPostgresAway(error)) {
      log.warn({ err: withoutRows(error), importId }, "import.postponed");
      this.#unreleased = leased;
      return;
    }
    log.error({ err: withoutRows(error), importId }, "import.failed");
    await postponeImport(db, leased, RETRY_SECONDS);
  }

  #noteEnd({ id, kind, workspaceId }: LeasedImport, { status }: ImportEnd, tookMs: number): void {
    const { log, metrics } = this.#deps;
    metrics.ended(status);
    log.info({ importId: id, kind, workspaceId, status, ms: Math.round(tookMs) }, "import.ended");
  }
}

function givenUp({ id }: LeasedImport): ImportEnd {
  const message = `Given up after ${ATTEMPTS_MAX} attempts without progress. The log of the service has the reasons under importId ${id}.`;
  return { status: "failed", message };
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
