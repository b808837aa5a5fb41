import { type ClusterState, readClusterState } from "../../../schemas/clickhouse/cluster-state.ts";
import type { ClickhouseReader } from "../../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Metrics } from "../../../schemas/host/metrics.ts";
import { pause } from "../../../schemas/host/pause.ts";

const ASK_EVERY_MS = 30_000;
/** The nodes answer within a second, also for one that is gone. For one that hangs they wait. */
const PATIENCE_MS = 10_000;

/** How many nodes are in a state. Empty while that is unknown. */
type Unwell = ReadonlyMap<"away" | "readonly" | "behind", number>;

export type ClusterWatchOptions = {
  readonly clickhouse: ClickhouseReader;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly askEveryMs?: number;
  /** From how many seconds on a node is behind. Default: DELAY_SECONDS_MAX. */
  readonly delaySecondsMax?: number;
};

/**
 * Asks a ClickHouse cluster every 30 s how its nodes are, for `clickhouse_nodes_unwell`. Does nothing for a single engine. The others serve
 * on while a node is unwell, so that nothing else of the installation shows it.
 */
export class ClusterWatch {
  readonly #options: ClusterWatchOptions;
  readonly #end = new AbortController();
  #unwell: Unwell = new Map();

  private constructor(options: ClusterWatchOptions) {
    this.#options = options;
    options.metrics.gauges("clickhouse_nodes_unwell", () =>
      [...this.#unwell].map(([state, nodes]) => [{ state }, nodes]),
    );
  }

  static start(options: ClusterWatchOptions): ClusterWatch {
    const watch = new ClusterWatch(options);
    if (options.clickhouse.cluster !== undefined) void watch.#repeat();
    return watch;
  }

  close(): void {
    this.#end.abort();
  }

  async #repeat(): Promise<void> {
    const { clickhouse, log, delaySecondsMax, askEveryMs = ASK_EVERY_MS } = this.#options;
    const asked = {
      timeoutMs: PATIENCE_MS,
      ...(delaySecondsMax !== undefined && { delaySecondsMax }),
    };
    while (!this.#end.signal.aborted) {
      try {
        this.#unwell = unwellOf(await readClusterState(clickhouse, asked));
      } catch (error) {
        if (this.#end.signal.aborted) return;
        // One node asks all others: if no answer comes in time, at least one of them is away.
        this.#unwell = isClickhouseAway(error) ? new Map([["away", 1]]) : new Map();
        log.warn({ err: error }, "clickhouse.cluster-unknown");
      }
      await pause(askEveryMs, this.#end.signal);
    }
  }
}

function unwellOf(state: ClusterState | undefined): Unwell {
  if (state === undefined) return new Map();
  const { nodes, answering, readonlyNodes, nodesBehind } = state;
  return new Map([
    ["away", nodes - answering],
    ["readonly", readonlyNodes],
    ["behind", nodesBehind],
  ]);
}
