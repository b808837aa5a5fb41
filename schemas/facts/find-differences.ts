import { DAY_MS, HOUR_MS } from "../time/zone.ts";
import {
  clickhouseRows,
  clickhouseRowsOf,
  type FactRow,
  keyText,
  type PostgresFactRow,
  postgresRows,
  postgresRowsOf,
  type RowKey,
} from "./fact-rows.ts";
import {
  clickhouseSums,
  differingKeys,
  type FactStores,
  type FactSums,
  type Grouping,
  groupOf,
  postgresSums,
  type Slices,
  type Span,
} from "./fact-sums.ts";
import type { FactTable } from "./fact-table.ts";

/**
 * How a record differs. Postgres is right in every case.
 *
 * - `missing`: ClickHouse does not have it. `older`: ClickHouse has an earlier version.
 * - `changed`: the version is the same, the content is not. `ahead`: ClickHouse has a version that Postgres has not reached,
 *   as after a restore of Postgres.
 * - `ghost`: Postgres does not have it.
 */
export type DifferenceKind = "missing" | "older" | "changed" | "ahead" | "ghost";

/** A record that differed when the outbox had no change of it. */
export type FactDifference = {
  readonly kind: DifferenceKind;
  readonly workspaceId: number;
  readonly key: RowKey;
  readonly postgres: FactRow | undefined;
  readonly clickhouse: FactRow | undefined;
};

/** A UTC day with different sums by currency. Changes that are still in the outbox may be the cause. */
export type DifferingDay = {
  readonly span: Span;
  readonly postgres: ReadonlyMap<string, FactSums>;
  readonly clickhouse: ReadonlyMap<string, FactSums>;
};

/** Average rows of a slice, at most. One slice of each store is in memory at a time. */
const SLICE_ROWS = 8_000;
/** A day with at most this many rows is not split into hours first. */
const DAY_ROWS_WHOLE = 2 * SLICE_ROWS;

/**
 * Finds the days with different sums in a span of whole days. Reads ClickHouse first: Postgres has committed everything that ClickHouse
 * has by then, so a row counts as a ghost only if Postgres really does not have it.
 */
export async function findDifferingDays(
  stores: FactStores,
  table: FactTable,
  span: Span,
): Promise<DifferingDay[]> {
  const days: Grouping = { by: "period", ms: DAY_MS };
  const clickhouse = await clickhouseSums(stores, table, span, days);
  const postgres = await postgresSums(stores, table, span, days);
  const starts = new Set(differingKeys(clickhouse, postgres).map((key) => groupOf(key).group));
  return [...starts]
    .toSorted((a, b) => a - b)
    .map((fromMs) => ({
      span: { ...span, fromMs, toMs: fromMs + DAY_MS },
      clickhouse: ofGroup(clickhouse, fromMs),
      postgres: ofGroup(postgres, fromMs),
    }));
}

/**
 * Yields the records of a day that differ, some thousands at a time. A change that is still in the outbox is not a difference. May be
 * called for a day without differences.
 */
export async function* findDifferences(
  stores: FactStores,
  table: FactTable,
  day: DifferingDay,
): AsyncGenerator<FactDifference[]> {
  const rows = Number(maxOf(rowsOf(day.postgres), rowsOf(day.clickhouse)));
  const spans =
    rows <= DAY_ROWS_WHOLE
      ? [{ span: day.span, rows }]
      : await differingHours(stores, table, day.span);
  for (const part of spans) {
    const slices: Slices = { by: "slice", count: Math.max(1, Math.ceil(part.rows / SLICE_ROWS)) };
    for (const number of await differingSlices(stores, table, part.span, slices)) {
      const slice = { of: slices, number };
      const clickhouse = await clickhouseRows(stores, table, part.span, slice);
      const postgres = await postgresRows(stores, table, part.span, slice);
      const found = await confirm(stores, table, {
        workspaceId: day.span.workspaceId,
        candidates: candidatesOf(postgres, clickhouse),
        clickhouseBefore: clickhouse,
      });
      if (found.length > 0) yield found;
    }
  }
}

async function differingHours(
  stores: FactStores,
  table: FactTable,
  span: Span,
): Promise<{ span: Span; rows: number }[]> {
  const hours: Grouping = { by: "period", ms: HOUR_MS };
  const clickhouse = await clickhouseSums(stores, table, span, hours);
  const postgres = await postgresSums(stores, table, span, hours);
  const starts = new Set(differingKeys(clickhouse, postgres).map((key) => groupOf(key).group));
  return [...starts].map((fromMs) => ({
    span: { ...span, fromMs, toMs: fromMs + HOUR_MS },
    rows: Number(maxOf(rowsOf(ofGroup(clickhouse, fromMs)), rowsOf(ofGroup(postgres, fromMs)))),
  }));
}

async function differingSlices(
  stores: FactStores,
  table: FactTable,
  span: Span,
  slices: Slices,
): Promise<number[]> {
  if (slices.count === 1) return [0];
  const clickhouse = await clickhouseSums(stores, table, span, slices);
  const postgres = await postgresSums(stores, table, span, slices);
  return [...new Set(differingKeys(clickhouse, postgres).map((key) => groupOf(key).group))];
}

function candidatesOf(
  postgres: ReadonlyMap<string, FactRow>,
  clickhouse: ReadonlyMap<string, FactRow>,
): RowKey[] {
  const candidates: RowKey[] = [];
  for (const [key, row] of postgres) {
    if (clickhouse.get(key)?.digest !== row.digest) candidates.push(row);
  }
  for (const [key, row] of clickhouse) if (!postgres.has(key)) candidates.push(row);
  return candidates;
}

/**
 * Checks candidates again: first Postgres with its outbox, in one snapshot, then ClickHouse. A record without a pending change was in
 * ClickHouse before that snapshot, because the relay deletes a change from the outbox only after its insert. That ClickHouse is ahead, or
 * has more, counts only if it was so before the snapshot.
 */
async function confirm(
  stores: FactStores,
  table: FactTable,
  seen: {
    readonly workspaceId: number;
    readonly candidates: readonly RowKey[];
    readonly clickhouseBefore: ReadonlyMap<string, FactRow>;
  },
): Promise<FactDifference[]> {
  const { workspaceId, candidates, clickhouseBefore } = seen;
  if (candidates.length === 0) return [];
  const ids = candidates.map(({ id }) => id);
  const postgres = await postgresRowsOf(stores, table, ids);
  const clickhouse = await clickhouseRowsOf(stores, table, workspaceId, candidates);
  return candidates.flatMap((candidate): FactDifference[] => {
    const key = keyText(candidate);
    const ours = postgres.get(candidate.id);
    // A row with the same id but another key is another record.
    const record = ours !== undefined && keyText(ours) === key ? ours : undefined;
    const copy = clickhouse.get(key);
    const kind = kindOf(record, copy, clickhouseBefore.get(key));
    return kind === undefined
      ? []
      : [{ kind, workspaceId, key: candidate, postgres: record, clickhouse: copy }];
  });
}

/** Undefined if nothing differs or a change is pending. `before` is the copy from before Postgres was asked. */
export function kindOf(
  record: PostgresFactRow | undefined,
  copy: FactRow | undefined,
  before: FactRow | undefined,
): DifferenceKind | undefined {
  if (record === undefined) return copy !== undefined && before !== undefined ? "ghost" : undefined;
  if (record.isPending) return undefined;
  if (copy === undefined) return "missing";
  if (copy.version < record.version) return "older";
  if (copy.version > record.version) {
    return before !== undefined && before.version > record.version ? "ahead" : undefined;
  }
  return copy.digest === record.digest ? undefined : "changed";
}

function ofGroup(
  sums: ReadonlyMap<string, FactSums>,
  wanted: number,
): ReadonlyMap<string, FactSums> {
  const found = new Map<string, FactSums>();
  for (const [key, one] of sums) {
    const { group, currency } = groupOf(key);
    if (group === wanted) found.set(currency, one);
  }
  return found;
}

export function rowsOf(sums: ReadonlyMap<string, FactSums>): bigint {
  return [...sums.values()].reduce((rows, one) => rows + one.rows, 0n);
}

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
