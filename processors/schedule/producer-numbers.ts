import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import {
  type ProducerNumbers,
  proveFreeProducers,
  readProducerNumbers,
} from "../../schemas/installation/free-producers.ts";
import type { RoleDeps } from "../role-deps.ts";

const READ_MS = 30_000;

/** Looks for producer numbers that may be given out again. Returns how many were found. */
export async function freeProducerNumbers(
  deps: Pick<RoleDeps, "pool" | "clickhouse" | "nats"> & { readonly log: Log },
): Promise<number> {
  const { pool: db, clickhouse, nats, log } = deps;
  const { freed, differing, inStream } = await proveFreeProducers({ db, clickhouse, nats });
  const counts = { freed: freed.length, differing: differing.length, inStream };
  if (differing.length > 0) {
    const todo = "`tracker audit` names the rows that are missing or stored twice";
    log.warn({ ...counts, producers: differing.slice(0, 10), todo }, "producers.not-free");
  } else if (freed.length > 0) log.info(counts, "producers.free");
  return freed.length;
}

/** Shows how many producer numbers are left, until `signal` is aborted. */
export async function showProducerNumbers(
  { pool, metrics, log }: Pick<RoleDeps, "pool" | "metrics" | "log">,
  signal: AbortSignal,
): Promise<void> {
  let left: ProducerNumbers | undefined;
  metrics.gauges("producer_numbers_left", () =>
    left === undefined
      ? []
      : [
          [{ kind: "fresh" }, left.fresh],
          [{ kind: "free" }, left.free],
        ],
  );
  while (!signal.aborted) {
    try {
      left = await readProducerNumbers(pool);
    } catch (error) {
      // Unknown, so the metric is absent.
      left = undefined;
      log.debug({ err: error }, "schedule.producer-numbers-unknown");
    }
    await pause(READ_MS, signal);
  }
}
