import { repeatAllErasures } from "../../schemas/erasure/erasures.ts";
import { listSpans } from "../../schemas/facts/audited-spans.ts";
import type { FactStores, Span } from "../../schemas/facts/fact-sums.ts";
import { FACT_TABLES, type FactTable } from "../../schemas/facts/fact-table.ts";
import {
  type DifferingDay,
  type FactDifference,
  findDifferences,
  findDifferingDays,
} from "../../schemas/facts/find-differences.ts";
import { resendFacts } from "../../schemas/facts/repair-facts.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { formatDay } from "../../schemas/time/calendar.ts";
import { DAY_MS, HOUR_MS } from "../../schemas/time/zone.ts";
import type { RoleDeps } from "../role-deps.ts";
import {
  type AuditPosition,
  type AuditScope,
  type AuditState,
  beginAudit,
  finishAudit,
  noteProgress,
  readAudit,
} from "./fact-audits.ts";
import { compareMarks, leaveMark } from "./fact-marks.ts";
import { listStarts, noteStarts } from "./store-starts.ts";

export type FactsAuditDeps = Pick<RoleDeps, "pool" | "clickhouse" | "log" | "metrics">;

const SCOPES: readonly AuditScope[] = ["recent", "all"];
/** Days before today that the hourly audit compares. */
const RECENT_DAYS = 3;
/** Duration of one round. The next round continues where this one stopped. */
const ROUND_MS = 20_000;
/** The audit adds nothing to an outbox with this many pending changes, so that new conversions do not wait behind old ones. */
const OUTBOX_ROWS_MAX = 10_000;
/** Ids in one log line. */
const IDS_LOGGED = 10;

/**
 * Compares ClickHouse's copies of conversions and ad costs with Postgres, round by round, and sends missing, older and different
 * records again. Records that Postgres does not have are reported and stay until `tracker audit --repair`: after a restore of Postgres
 * they may be the only trace of a conversion that was already reported to someone. Call `round` from one process at a time; a second
 * process repeats work but does no harm.
 */
export class FactsAudit {
  readonly #deps: FactsAuditDeps;
  readonly #stores: FactStores;
  readonly #recentEveryMs: number;
  readonly #counters: ReturnType<typeof declareCounters>;
  #lastFound: number | undefined;

  constructor(deps: FactsAuditDeps, recentEveryMs: number) {
    this.#deps = deps;
    this.#stores = { db: deps.pool, clickhouse: deps.clickhouse };
    this.#recentEveryMs = recentEveryMs;
    this.#counters = declareCounters(deps.metrics);
    deps.metrics.gauge("facts_differences", () => this.#lastFound);
  }

  /** One bounded round; returns the number of differences. Throws while a store is unavailable, which is not a difference. */
  async round(signal: AbortSignal): Promise<number> {
    const deadlineMs = performance.now() + ROUND_MS;
    await this.#noticeStores();
    const isOver = (): boolean => signal.aborted || performance.now() > deadlineMs;
    let found = 0;
    for (const scope of SCOPES) {
      if (isOver()) break;
      const state = await this.#dueAudit(scope);
      if (state !== undefined) found += await this.#continueRun(scope, state, isOver);
    }
    return found;
  }

  /**
   * Starts audits if a store went back or restarted. The state of the stores is saved afterwards: if the process dies in between, the
   * next one starts the audits again.
   */
  async #noticeStores(): Promise<void> {
    const { pool, clickhouse, log } = this.#deps;
    const { wentBack, next } = await compareMarks(pool, clickhouse);
    const starts = await listStarts(pool, clickhouse);
    if (wentBack !== undefined) {
      this.#counters.wentBack.add(1, { store: wentBack });
      log.error({ store: wentBack }, "facts.store-went-back");
      // The store may contain data again that was erased since its backup (G207).
      await repeatAllErasures(pool);
    }
    const restarted = starts.filter(({ hasRestarted }) => hasRestarted).map(({ server }) => server);
    if (restarted.length > 0) log.info({ restarted }, "facts.store-restarted");
    if (wentBack !== undefined || restarted.length > 0) {
      for (const scope of SCOPES) await beginAudit(pool, scope);
    }
    await noteStarts(pool, starts);
    await leaveMark(pool, clickhouse, next);
  }

  /** An audit of all that found differences is repeated an hour later, when the records that it sent must have arrived. */
  async #dueAudit(scope: AuditScope): Promise<AuditState | undefined> {
    const { pool } = this.#deps;
    const state = await readAudit(pool, scope);
    if (!state.isFinished) return state;
    const isDue =
      scope === "recent"
        ? state.sinceFinishedMs >= this.#recentEveryMs
        : state.isOfEarlierDay || (state.found > 0 && state.sinceFinishedMs >= HOUR_MS);
    return isDue ? await beginAudit(pool, scope) : undefined;
  }

  async #continueRun(scope: AuditScope, state: AuditState, isOver: () => boolean): Promise<number> {
    const { pool, log } = this.#deps;
    const { run } = state;
    const sinceMs = scope === "all" ? 0 : Date.now() - RECENT_DAYS * DAY_MS;
    let found = 0;
    for (const table of FACT_TABLES) {
      for (const span of await listSpans(this.#stores, table, sinceMs)) {
        if (isCompared(state.position, table, span)) continue;
        if (isOver()) return found;
        const result = await this.#compare(table, span, isOver);
        found += result.found;
        if (!result.isWhole) return found;
        const position = { table: table.name, workspaceId: span.workspaceId, fromMs: span.fromMs };
        await noteProgress(pool, { scope, run }, position, result.found);
      }
    }
    await finishAudit(pool, { scope, run });
    this.#counters.audits.add(1, { scope });
    this.#lastFound = state.found + found;
    log.info({ scope, found: this.#lastFound }, "facts.audited");
    return found;
  }

  /** `isWhole` is false if the round ended or the outbox became full: the span must be compared again. */
  async #compare(
    table: FactTable,
    span: Span,
    isOver: () => boolean,
  ): Promise<{ readonly found: number; readonly isWhole: boolean }> {
    let found = 0;
    for (const day of await findDifferingDays(this.#stores, table, span)) {
      for await (const differences of findDifferences(this.#stores, table, day)) {
        if (isOver() || !(await this.#hasRoom(table))) return { found, isWhole: false };
        found += differences.length;
        this.#report(table, day, differences);
        await resendFacts(this.#deps.pool, table, differences);
      }
    }
    return { found, isWhole: true };
  }

  async #hasRoom(table: FactTable): Promise<boolean> {
    const { table: records, waiting } = table.postgres;
    const { rows } = await this.#deps.pool.query<{ waiting: number }>({
      name: `waiting-${records}`,
      text: waiting,
      values: [OUTBOX_ROWS_MAX],
    });
    return (rows[0]?.waiting ?? 0) < OUTBOX_ROWS_MAX;
  }

  #report(table: FactTable, day: DifferingDay, differences: readonly FactDifference[]): void {
    const kinds: Partial<Record<FactDifference["kind"], number>> = {};
    for (const { kind } of differences) {
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      this.#counters.differences.add(1, { table: table.name, kind });
    }
    const ids = differences.slice(0, IDS_LOGGED).map(({ key }) => key.id);
    this.#deps.log.error(
      {
        table: table.name,
        workspaceId: day.span.workspaceId,
        day: formatDay(day.span.fromMs / DAY_MS),
        ...kinds,
        ids,
        // Records that Postgres does not have stay: see the class.
        remedy: "ghost" in kinds ? "tracker audit --repair deletes ghosts" : "sent again",
      },
      "facts.differ",
    );
  }
}

/** Spans are ordered by table, workspace and time. */
function isCompared(position: AuditPosition | undefined, table: FactTable, span: Span): boolean {
  if (position === undefined) return false;
  const order = FACT_TABLES.findIndex(({ name }) => name === position.table);
  const place = FACT_TABLES.indexOf(table);
  if (place !== order) return place < order;
  if (span.workspaceId !== position.workspaceId) return span.workspaceId < position.workspaceId;
  return span.fromMs <= position.fromMs;
}

function declareCounters(metrics: Metrics) {
  return {
    differences: metrics.counter("facts_audit_differences_total"),
    wentBack: metrics.counter("facts_store_went_back_total"),
    audits: metrics.counter("facts_audits_total"),
  };
}
