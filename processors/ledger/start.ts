import { Backoff } from "../../schemas/host/backoff.ts";
import { IdlePause } from "../../schemas/host/idle-pause.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { RoleDeps } from "../role-deps.ts";
import { backfillLedger, listWaiting, postConversions, ROWS_PER_CALL } from "./post-conversions.ts";

export type LedgerDeps = Pick<RoleDeps, "pool" | "log" | "metrics" | "signal">;

/** Well below the five seconds that the ledger may lag (N39). */
const PAUSES = { busyMs: 500, idleMs: 1_500 } as const;
const BACKOFF = { firstMs: 250, longestMs: 10_000, spread: [0.5, 1.5] } as const;

/**
 * Posts changes of conversions to the ledger until it is closed (N39). Any number of processes may run it. A process that dies leaves
 * nothing behind: a call posts its changes and takes them off the queue in one transaction. Workspaces take turns, and a workspace that
 * fails does not keep the others waiting.
 */
export function startLedger({ pool, log, metrics, signal: ending }: LedgerDeps): {
  close(): Promise<void>;
} {
  const stop = new AbortController();
  const signal = AbortSignal.any([ending, stop.signal]);
  const posted = metrics.counter("ledger_posted_total");
  const failed = metrics.counter("ledger_failed_total");
  const backoff = new Backoff({
    ...BACKOFF,
    signal,
    report: { log, event: "ledger.posting-failed" },
  });
  let caughtUpAtMs = performance.now();
  let isBehind = false;
  metrics.gauge("ledger_behind_seconds", () =>
    isBehind ? (performance.now() - caughtUpAtMs) / 1_000 : 0,
  );

  /** Returns whether there is more to do at once. */
  async function serve(workspaceId: number, hasBackfill: boolean): Promise<boolean> {
    const hasMore = hasBackfill && (await backfillLedger(pool, workspaceId));
    const done = await postConversions(pool, workspaceId);
    posted.add(done.posted, { kind: "conversion" });
    if (hasBackfill || done.taken > 0) idlePause.worked();
    return hasMore || done.taken === ROWS_PER_CALL;
  }

  const idlePause = new IdlePause(PAUSES);
  /** One turn of each workspace that waits. */
  async function round(): Promise<boolean> {
    let hasMore = false;
    const faults: unknown[] = [];
    for (const { workspace_id: id, has_backfill: hasBackfill } of await listWaiting(pool)) {
      if (signal.aborted) break;
      try {
        hasMore = (await serve(id, hasBackfill)) || hasMore;
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, "some workspaces were not posted");
    return hasMore;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        isBehind = await round();
        backoff.reset();
        if (isBehind) continue;
        caughtUpAtMs = performance.now();
        await pause(idlePause.pauseMs(), signal);
      } catch (error) {
        if (signal.aborted) break;
        isBehind = true;
        failed.add();
        await backoff.pause(error);
      }
    }
  }

  const running = run();
  return {
    close: async () => {
      stop.abort();
      await running;
    },
  };
}
