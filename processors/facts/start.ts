import { randomUUID } from "node:crypto";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { Backoff } from "../../schemas/host/backoff.ts";
import { IdlePause } from "../../schemas/host/idle-pause.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { quoteIdentifier } from "../../schemas/postgres/quote.ts";
import type { RoleDeps } from "../role-deps.ts";
import { adCostFacts } from "./ad-cost-facts.ts";
import { conversionFacts } from "./conversion-facts.ts";
import type { FactSource } from "./fact-source.ts";
import { holdRelayLease, releaseRelayLease } from "./relay-lease.ts";

type FactDeps = Pick<RoleDeps, "pool" | "clickhouse" | "log" | "metrics" | "signal">;

const SOURCES: readonly FactSource[] = [conversionFacts, adCostFacts];
/** Rows of one insert, and the maximum that this process keeps in memory for one source. */
const BATCH_ROWS_MAX = 5_000;
const PAUSES = { busyMs: 200, idleMs: 600 } as const;
/** A process that died is replaced within this time, well below the five seconds that reports may lag (G191). */
const LEASE_MS = 3_000;
const BACKOFF = { firstMs: 250, longestMs: 10_000, spread: [0.5, 1.5] } as const;
const INSERT_TIMEOUT_MS = 20_000;

/**
 * Copies changes of conversions and ad costs from Postgres to ClickHouse until it is closed. Each is copied at least once: a change is
 * deleted from the outbox after its insert, and the table keeps the highest version of a record, so a repeat or a copy out of order
 * changes nothing. A source that fails does not delay the others.
 */
export function startFacts(deps: FactDeps): { close(): Promise<void> } {
  const { log, metrics, pool } = deps;
  const owner = randomUUID();
  const stop = new AbortController();
  const copied = metrics.counter("facts_copied_total");
  const failed = metrics.counter("facts_failed_total");
  const caughtUpAtMs = new Map<FactSource, number>();
  metrics.gauge("facts_behind_seconds", () =>
    caughtUpAtMs.size === 0
      ? undefined
      : (performance.now() - Math.min(...caughtUpAtMs.values())) / 1_000,
  );
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  /** The lease is of the process, for all sources; 0 while another one has it. */
  let heldUntilMs = 0;
  const running = Promise.all(SOURCES.map(run));

  async function run(source: FactSource): Promise<void> {
    const report = { log: log.child({ table: source.table }), event: "facts.copy-failed" };
    const backoff = new Backoff({ ...BACKOFF, signal, report });
    const idlePause = new IdlePause(PAUSES);
    while (!signal.aborted) {
      try {
        if (performance.now() >= heldUntilMs) {
          const isHeld = await holdRelayLease(pool, owner, LEASE_MS);
          heldUntilMs = isHeld ? performance.now() + LEASE_MS / 3 : 0;
        }
        const rows = heldUntilMs > 0 ? await copyBatch(pool, deps.clickhouse, source) : undefined;
        backoff.reset();
        copied.add(rows ?? 0);
        if (rows === undefined) caughtUpAtMs.delete(source);
        else if (rows < BATCH_ROWS_MAX) caughtUpAtMs.set(source, performance.now());
        if ((rows ?? 0) > 0) idlePause.worked();
        if (rows !== BATCH_ROWS_MAX) await pause(idlePause.pauseMs(), signal);
      } catch (error) {
        failed.add();
        await backoff.pause(error);
      }
    }
  }

  return {
    close: async () => {
      stop.abort();
      await running;
      try {
        await releaseRelayLease(pool, owner);
      } catch (error) {
        // The lease ends on its own.
        log.info({ err: error }, "facts.lease-not-released");
      }
    },
  };
}

/** Copies the oldest pending changes. Returns how many it deleted from the outbox. */
async function copyBatch(
  db: Queryable,
  clickhouse: Clickhouse,
  source: FactSource,
): Promise<number> {
  const outbox = `${source.table}_outbox`;
  const { rows: pending } = await db.query<{ outbox_id: number; id: string }>({
    name: `list-pending-${source.table}`,
    text: `select id as outbox_id, ${quoteIdentifier(source.reference)}::text as id from ${quoteIdentifier(outbox)}
           order by id limit $1`,
    values: [BATCH_ROWS_MAX],
  });
  if (pending.length === 0) return 0;
  // Several changes of one record may be waiting.
  const ids = [...new Set(pending.map(({ id }) => id))];
  await clickhouse.insert({
    table: source.table,
    values: await source.readRows(db, ids),
    format: "JSONEachRow",
    clickhouse_settings: {
      async_insert: 0,
      max_execution_time: INSERT_TIMEOUT_MS / 1_000,
      // A replicated table remembers received blocks even after it lost their rows, and would drop the repair as a repeat.
      insert_deduplicate: 0,
    },
  });
  // Only after the insert: a process that dies in between copies again.
  await db.query({
    name: `delete-pending-${source.table}`,
    text: `delete from ${quoteIdentifier(outbox)} where id = any($1::bigint[])`,
    values: [pending.map(({ outbox_id }) => outbox_id)],
  });
  return pending.length;
}
