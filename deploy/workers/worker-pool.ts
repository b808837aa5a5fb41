import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Worker, WorkerExit } from "./worker.ts";
import { WorkerSlot } from "./worker-slot.ts";

export type WorkerPoolOptions = {
  readonly workers: number;
  readonly start: (index: number) => Promise<Worker>;
  readonly log: Log;
  readonly endDeadlineMs: number;
};

const LOOK_MS = 50;
/** A restart in turn stops when a worker does not serve within this time: the others keep the settings that work. */
const SERVING_PATIENCE_MS = 600_000;
/** A worker refuses to run as it is configured: wrong settings, a newer schema, a check of DURABILITY. */
const REFUSALS: ReadonlySet<number | null> = new Set([2, 3, 4]);

/**
 * Keeps N workers running on one port until it is ended. It opens no connection for them and forwards nothing: visitors reach the
 * workers also while it is busy.
 */
export class WorkerPool {
  readonly #log: Log;
  readonly #slots: readonly WorkerSlot[];
  readonly #end = new AbortController();
  #refusal: number | undefined;
  #isRestarting = false;
  #restartAgain = false;

  constructor({ workers, start, log, endDeadlineMs }: WorkerPoolOptions) {
    this.#log = log;
    this.#slots = Array.from(
      { length: workers },
      (_, index) =>
        new WorkerSlot({
          start: () => start(index),
          log: log.child({ worker: index }),
          onDeath: (exit) => void this.#noteDeath(exit),
          endDeadlineMs,
        }),
    );
  }

  /**
   * Runs until {@link end}. Returns the exit code of the process: 0 when every worker ended well; the code of a worker, if it refused
   * to run while no other served; else 1.
   */
  async run(): Promise<number> {
    const exits = await Promise.all(this.#slots.map((slot) => slot.run()));
    if (this.#refusal !== undefined) return this.#refusal;
    return exits.every((exit) => exit === undefined || exit.code === 0) ? 0 : 1;
  }

  /** Ends all workers at the same time. Called again, repeats the signal, which ends workers that drain at once. */
  end(signal: NodeJS.Signals): void {
    this.#end.abort();
    for (const slot of this.#slots) slot.end(signal);
  }

  get isDraining(): boolean {
    return this.#end.signal.aborted;
  }

  /** Whether visitors are answered: a worker serves, and no worker with the port is silent. */
  get isReady(): boolean {
    return (
      this.#slots.some(({ wasReady }) => wasReady) && !this.#slots.some(({ mayHang }) => mayHang)
    );
  }

  /** How many of the workers said in the last seconds that they serve. */
  get serving(): number {
    return this.#slots.filter(({ wasReady }) => wasReady).length;
  }

  reopenLogs(): void {
    for (const slot of this.#slots) slot.reopenLogs();
  }

  /** Restarts the workers one by one, each only while all others serve. A call during a restart causes one more. */
  async restartInTurn(): Promise<void> {
    this.#restartAgain = true;
    if (this.#isRestarting) return;
    this.#isRestarting = true;
    try {
      while (this.#restartAgain && !this.#end.signal.aborted) {
        this.#restartAgain = false;
        await this.#restartEach();
      }
    } finally {
      this.#isRestarting = false;
    }
  }

  async #restartEach(): Promise<void> {
    this.#log.info({ workers: this.#slots.length }, "workers.restarting");
    for (const slot of this.#slots) {
      const others = this.#slots.filter((one) => one !== slot);
      if (!(await this.#untilServing(others))) return;
      slot.replace();
      if (!(await this.#untilServing([slot]))) return;
    }
    this.#log.info({ workers: this.#slots.length }, "workers.restarted");
  }

  /** Waits until these workers serve. False when the pool ends, or when a worker does not serve in time. */
  async #untilServing(slots: readonly WorkerSlot[]): Promise<boolean> {
    const giveUpAtMs = performance.now() + SERVING_PATIENCE_MS;
    while (!this.#end.signal.aborted) {
      const serving = await Promise.all(slots.map((slot) => slot.isServing()));
      if (this.#end.signal.aborted) return false;
      if (!serving.includes(false)) return true;
      if (performance.now() > giveUpAtMs) {
        this.#log.error({ patienceMs: SERVING_PATIENCE_MS }, "workers.restart-stopped");
        return false;
      }
      await pause(LOOK_MS, this.#end.signal);
    }
    return false;
  }

  /** The workers have the same settings: what one refuses at the start, all refuse. While a worker serves, the pool goes on. */
  async #noteDeath({ code }: WorkerExit): Promise<void> {
    if (!REFUSALS.has(code) || code === null) return;
    const serving = await Promise.all(this.#slots.map((slot) => slot.isServing()));
    if (serving.includes(true) || this.#end.signal.aborted) return;
    this.#refusal = code;
    this.#log.error({ code }, "workers.refused");
    this.end("SIGTERM");
  }
}
