import { pause } from "../../schemas/host/pause.ts";
import type { Child } from "./child.ts";
import { describeExit } from "./child.ts";
import type { Report } from "./report.ts";
import { formatSeconds } from "./report.ts";
import { RestartWaits } from "./restart-waits.ts";

/** A process that runs until it is stopped. */
export interface Service {
  name: string;
  /** Resolves when it is ready. If `signal` is aborted, stops what it has started and rejects. */
  start(signal: AbortSignal): Promise<Child>;
}

/**
 * Keeps services running. If one ends, logs that and starts it again; the others continue.
 *
 * Invariant: a service has at most one child, and after `stop` has settled there is none.
 */
export class Supervisor {
  readonly #report: Report;
  readonly #abort = new AbortController();
  readonly #groups: Keeper[][] = [];
  #stopping: Promise<void> | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  /**
   * Starts the services of a group at the same time; resolves when all are ready. A failed first start is not repeated: its error is thrown,
   * and the launcher reports it and stops.
   */
  async add(services: readonly Service[]): Promise<void> {
    const keepers = services.map((one) => new Keeper(one, this.#report, this.#abort.signal));
    this.#groups.push(keepers);
    await Promise.all(keepers.map((keeper) => keeper.begin()));
  }

  /** Stops the groups one after another, the last one first, and aborts starts in progress. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    this.#abort.abort(new Error("the launcher is stopping"));
    for (const group of this.#groups.toReversed()) {
      await Promise.all(group.map((keeper) => keeper.end()));
    }
  }
}

/**
 * Keeps one service running. It is in one of these states:
 *
 * - starting: entered by `begin`, and when a wait has ended. `start` resolves when the service is ready, and it runs; when `start` rejects
 *   the first time, the caller of `begin` gets the error; later the service waits.
 * - running: it has a child. Left only when the child has ended: a child that hangs is killed by who made it.
 * - waiting: for a longer time after each failure in a row, whatever the exit code.
 * - ended: entered by `end` from each of the others, once the child has ended. Nothing leaves it.
 */
class Keeper {
  readonly #service: Service;
  readonly #report: Report;
  readonly #signal: AbortSignal;
  #child: Child | undefined;
  #starting: Promise<Child> | undefined;
  #keeping: Promise<void> | undefined;

  constructor(service: Service, report: Report, signal: AbortSignal) {
    this.#service = service;
    this.#report = report;
    this.#signal = signal;
  }

  async begin(): Promise<void> {
    await this.#start();
    this.#keeping = this.#keep();
  }

  async end(): Promise<void> {
    // An aborted start rejects and has cleaned up. A start that had just finished has left a child.
    await Promise.allSettled([this.#starting]);
    await this.#child?.stop();
    await this.#keeping;
  }

  async #start(): Promise<void> {
    this.#starting = this.#service.start(this.#signal);
    this.#child = await this.#starting;
  }

  async #keep(): Promise<void> {
    const { name } = this.#service;
    const waits = new RestartWaits();
    while (this.#child !== undefined) {
      const startedAtMs = performance.now();
      const exit = await this.#child.exited;
      this.#child = undefined;
      if (this.#signal.aborted) return;
      const waitMs = waits.next(performance.now() - startedAtMs);
      const delay = formatSeconds(waitMs);
      this.#report.warn(name, `${describeExit(exit)}; it is started again in ${delay}`);
      await this.#restart(waitMs, waits);
    }
  }

  /** Tries until it runs or the supervisor stops. */
  async #restart(firstWaitMs: number, waits: RestartWaits): Promise<void> {
    const { name } = this.#service;
    let waitMs = firstWaitMs;
    for (;;) {
      await pause(waitMs, this.#signal);
      if (this.#signal.aborted) return;
      try {
        await this.#start();
        this.#report.note(name, "runs again");
        return;
      } catch (error) {
        if (this.#signal.aborted) return;
        waitMs = waits.next(0);
        const fault = error instanceof Error ? error.message : String(error);
        const delay = formatSeconds(waitMs);
        this.#report.warn(name, `did not start again: ${fault}; next attempt in ${delay}`);
      }
    }
  }
}
