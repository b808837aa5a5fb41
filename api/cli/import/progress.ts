import type { ImportProgress } from "../../workspace/imports/file/import-progress.ts";

const EVERY_MS = 500;

/** Reports how many rows are done, at most twice a second. */
export class Progress {
  readonly #report: (line: string) => void;
  #phase: ImportProgress["phase"] = "checking";
  #sinceMs = performance.now();
  #reportedAtMs = performance.now();

  constructor(report: (line: string) => void) {
    this.#report = report;
  }

  show({ phase, ...counts }: ImportProgress): void {
    const nowMs = performance.now();
    if (phase !== this.#phase) this.#sinceMs = nowMs;
    this.#phase = phase;
    if (nowMs - this.#reportedAtMs < EVERY_MS) return;
    this.#reportedAtMs = nowMs;
    const [done, rows] =
      phase === "checking"
        ? ["checked", counts.rows]
        : ["written", counts.created + counts.updated];
    const perSecond = Math.round((rows * 1000) / Math.max(1, nowMs - this.#sinceMs));
    this.#report(`${rows} rows ${done}, ${perSecond} a second`);
  }
}
