import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import { hangs, type ProcessState } from "../local/ask-process.ts";
import { RestartWaits } from "../local/restart-waits.ts";
import type { Worker, WorkerExit } from "./worker.ts";

export type WorkerSlotOptions = {
  readonly start: () => Promise<Worker>;
  readonly log: Log;
  /** Called when a worker has ended without being asked to. */
  readonly onDeath: (exit: WorkerExit) => void;
  /** A worker that has not ended this long after it was asked to is killed. */
  readonly endDeadlineMs: number;
};

const LOOK_MS = 50;

/**
 * One place among the workers: starts its worker, and starts it again when it dies. Invariant: a slot has at most one worker,
 * and none once `run` has settled. It is in one of these states:
 *
 * - starting: the worker runs and its `/readyz` has not been 200 yet. Entered by `run`, and when a wait has ended.
 * - serving: it was 200 once, and is asked each second. Five questions in a row without an answer kill the worker.
 * - ending: `end` or `replace` has sent a signal, after which silence accuses nobody. Past its deadline the worker is killed.
 * - waiting: the worker has ended by itself, or could not be started: for a longer time after each failure in a row. A worker that was
 *   replaced is followed without a wait.
 * - ended: the worker has ended and `end` was called. Nothing leaves it.
 */
export class WorkerSlot {
  readonly #options: WorkerSlotOptions;
  readonly #end = new AbortController();
  #worker: Worker | undefined;
  /** The worker was seen to serve and has not been asked to end. */
  #isServing = false;
  #isReplaced = false;
  /** The answer to the last question. */
  #state: ProcessState = "silent";
  readonly #waits = new RestartWaits();
  #exit: WorkerExit | undefined;

  constructor(options: WorkerSlotOptions) {
    this.#options = options;
  }

  /** Whether its worker answers now that it serves. */
  async isServing(): Promise<boolean> {
    return this.#isServing && (await this.#worker?.isReady()) === true;
  }

  /** Whether its worker said in the last seconds that it serves. */
  get wasReady(): boolean {
    return this.#isServing && this.#state === "ready";
  }

  /** Whether its worker has the port and did not answer the last question: visitors whose connection it has wait. */
  get mayHang(): boolean {
    return this.#isServing && this.#state === "silent";
  }

  /** Runs until {@link end}. Returns how the last worker ended. */
  async run(): Promise<WorkerExit | undefined> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const startedAtMs = performance.now();
      await this.#runWorker();
      if (signal.aborted) break;
      if (this.#isReplaced) {
        this.#isReplaced = false;
        this.#waits.reset();
        this.#options.log.info({ ...this.#exit }, "worker.replaced");
        continue;
      }
      const waitMs = this.#waits.next(performance.now() - startedAtMs);
      const { failures } = this.#waits;
      this.#options.log.warn({ ...this.#exit, failures, waitMs }, "worker.died");
      if (this.#exit !== undefined) this.#options.onDeath(this.#exit);
      await pause(waitMs, signal);
    }
    return this.#exit;
  }

  /** Ends the worker for good. Called again, repeats the signal: a worker that drains then ends at once. */
  end(signal: NodeJS.Signals): void {
    this.#end.abort();
    this.#isServing = false;
    this.#stop(signal);
  }

  /** Ends the worker and lets the next one take its place. Does nothing while none runs, because one is about to start. */
  replace(): void {
    if (this.#worker === undefined) return;
    this.#isReplaced = true;
    this.#isServing = false;
    // SIGHUP ends without serving on for DRAIN_SECONDS: the siblings have the port.
    this.#stop("SIGHUP");
  }

  /** Makes the worker open its log files again. A worker that starts opens them anyway. */
  reopenLogs(): void {
    if (this.#isServing) this.#worker?.signal("SIGUSR2");
  }

  async #runWorker(): Promise<void> {
    const { start, log } = this.#options;
    this.#exit = undefined;
    try {
      this.#worker = await start();
    } catch (error) {
      log.error({ err: error }, "worker.not-started");
      return;
    }
    const worker = this.#worker;
    log.info({ worker_pid: worker.pid }, "worker.started");
    // Asked to end while it was being started.
    if (this.#end.signal.aborted) this.#stop("SIGTERM");
    const ended = new AbortController();
    const looking = this.#lookUntilServing(worker, ended.signal).then(
      async () => await this.#watch(worker, ended.signal),
    );
    this.#exit = await worker.exited;
    ended.abort();
    await looking;
    this.#worker = undefined;
    this.#isServing = false;
  }

  async #lookUntilServing(worker: Worker, ended: AbortSignal): Promise<void> {
    while (!ended.aborted && !this.#end.signal.aborted && !this.#isReplaced) {
      if (await worker.isReady()) {
        if (ended.aborted || this.#end.signal.aborted || this.#isReplaced) return;
        this.#state = "ready";
        this.#isServing = true;
        this.#options.log.info({ worker_pid: worker.pid }, "worker.serving");
        return;
      }
      await pause(LOOK_MS, ended);
    }
  }

  /** Kills a worker that hangs: the kernel goes on giving it connections, and their visitors would wait for ever. */
  async #watch(worker: Worker, ended: AbortSignal): Promise<void> {
    if (!this.#isServing) return;
    const ask = async (): Promise<ProcessState> => await worker.ask();
    const onState = (state: ProcessState): void => void (this.#state = state);
    // A worker that was asked to end may be silent while it ends.
    if (!(await hangs(ask, ended, { onState })) || !this.#isServing) return;
    this.#options.log.error({ worker_pid: worker.pid }, "worker.hung");
    worker.signal("SIGKILL");
  }

  #stop(signal: NodeJS.Signals): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.signal(signal);
    const deadline = setTimeout(() => {
      this.#options.log.error({ worker_pid: worker.pid }, "worker.killed");
      worker.signal("SIGKILL");
    }, this.#options.endDeadlineMs);
    void worker.exited.then(() => clearTimeout(deadline));
  }
}
