import type { Metrics } from "../../../schemas/host/metrics.ts";
import type { EndedStatus } from "./stored-import.ts";

/** What this process has done of imports, and how many wait. */
export class ImportMetrics {
  readonly #rows: ReturnType<typeof declareCounters>["rows"];
  readonly #ended: ReturnType<typeof declareCounters>["ended"];
  #waiting: number | undefined;

  constructor(metrics: Metrics) {
    const { rows, ended } = declareCounters(metrics);
    this.#rows = rows;
    this.#ended = ended;
    metrics.gauge("imports_waiting", () => this.#waiting);
  }

  /** Undefined while it is unknown. */
  waiting(count: number | undefined): void {
    this.#waiting = count;
  }

  written({
    created,
    updated,
    refused,
  }: {
    readonly created: number;
    readonly updated: number;
    readonly refused: number;
  }): void {
    this.#rows.add(created, { outcome: "created" });
    this.#rows.add(updated, { outcome: "updated" });
    this.#rows.add(refused, { outcome: "refused" });
  }

  ended(outcome: EndedStatus): void {
    this.#ended.add(1, { outcome });
  }
}

function declareCounters(metrics: Metrics) {
  return {
    rows: metrics.counter("import_rows_total"),
    ended: metrics.counter("imports_ended_total"),
  };
}
