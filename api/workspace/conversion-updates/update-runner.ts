import type { Log } from "../../../schemas/host/log.ts";
import { pause } from "../../../schemas/host/pause.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { isPostgresAway } from "../../../schemas/postgres/errors.ts";
import { withoutRows } from "../../http/without-rows.ts";
import { deleteAbandoned, dueUpdates, noteFailure, stepUpdate } from "./run-updates.ts";

/** How often a process looks for updates of other processes. Its own ones wake it. */
const LOOK_EVERY_MS = 1_000;
const CLEAN_EVERY_MS = 60_000;

/** Checks, applies and undoes files, one step of each at a time. Several processes may do it: a step is one transaction under the lock of its update. */
export class UpdateRunner {
  readonly #db: Pool;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #cleanedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ db, log }: { readonly db: Pool; readonly log: Log }) {
    this.#db = db;
    this.#log = log;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** An update of this process is due. */
  wake(): void {
    this.#wake.abort();
  }

  /** Ends after the present step. */
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
  }

  /** Whether there may be more to do at once. */
  async #round(): Promise<boolean> {
    try {
      if (performance.now() - this.#cleanedAtMs > CLEAN_EVERY_MS) {
        await deleteAbandoned(this.#db);
        this.#cleanedAtMs = performance.now();
      }
      let hasMore = false;
      for (const id of await dueUpdates(this.#db)) {
        if (this.#stop.signal.aborted) return false;
        hasMore = (await this.#step(id)) || hasMore;
      }
      return hasMore;
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#log.warn({ err: withoutRows(error) }, "conversion-updates.not-looked-for");
      return false;
    }
  }

  async #step(id: number): Promise<boolean> {
    try {
      return (await stepUpdate(this.#db, id)) !== undefined;
    } catch (error) {
      if (isPostgresAway(error)) throw error;
      this.#log.error({ err: withoutRows(error), updateId: id }, "conversion-update.failed");
      await noteFailure(this.#db, id);
      return false;
    }
  }
}
