import { processUs } from "../system/postgres-time.ts";
import { pause } from "../system/service.ts";

/** Processor time of groups of processes, in microseconds, without what they use while idle. */
export class StageTimes<Stage extends string> {
  readonly #pids: ReadonlyMap<Stage, readonly number[]>;
  /** Microseconds for each millisecond. */
  #idle: ReadonlyMap<Stage, number> = new Map();

  constructor(pids: ReadonlyMap<Stage, readonly number[]>) {
    this.#pids = pids;
  }

  /** Measures for `ms` what the processes use while they have nothing to do. Later measurements do not contain it. */
  async measureIdle(ms: number): Promise<void> {
    this.#idle = new Map();
    const measured = this.start();
    await pause(ms);
    this.#idle = new Map([...measured()].map(([stage, us]) => [stage, us / ms]));
  }

  /** Begins to measure. The returned function answers what each stage has used since. */
  start(): () => Map<Stage, number> {
    const [before, startedAtMs] = [this.#now(), performance.now()];
    return () => {
      const tookMs = performance.now() - startedAtMs;
      return new Map(
        [...this.#now()].map(([stage, us]) => {
          const idleUs = (this.#idle.get(stage) ?? 0) * tookMs;
          return [stage, Math.max(0, us - (before.get(stage) ?? 0) - idleUs)];
        }),
      );
    };
  }

  #now(): Map<Stage, number> {
    return new Map(
      [...this.#pids].map(([stage, pids]) => [
        stage,
        pids.reduce((sum, pid) => sum + processUs(pid), 0),
      ]),
    );
  }
}
