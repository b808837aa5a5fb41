import { listSpans } from "../../../schemas/facts/audited-spans.ts";
import { awaitCopied } from "../../../schemas/facts/await-copied.ts";
import type { RowKey } from "../../../schemas/facts/fact-rows.ts";
import type { FactStores, FactSums } from "../../../schemas/facts/fact-sums.ts";
import { FACT_TABLES, type FactTable } from "../../../schemas/facts/fact-table.ts";
import {
  type DifferenceKind,
  type DifferingDay,
  type FactDifference,
  findDifferences,
  findDifferingDays,
  rowsOf,
} from "../../../schemas/facts/find-differences.ts";
import { formatAmount } from "../../../schemas/money/amount.ts";
import { formatDay } from "../../../schemas/time/calendar.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";

/** Differing records of one day and workspace. Sums are decimal text by currency and money column. */
export type AuditedDay = {
  readonly table: string;
  readonly workspace_id: number;
  readonly day: string;
  readonly postgres: AuditedSums;
  readonly clickhouse: AuditedSums;
  readonly differences: Readonly<Partial<Record<DifferenceKind, number>>>;
  /** At most RECORDS_SHOWN. */
  readonly records: readonly (RowKey & { readonly kind: DifferenceKind })[];
};
type AuditedSums = {
  readonly rows: number;
  readonly money: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

export type Comparison = {
  readonly days: readonly AuditedDay[];
  /** Tables whose outbox was not fully copied in time. */
  readonly waiting: readonly string[];
};

const RECORDS_SHOWN = 1_000;
const COPY_TIMEOUT_MS = 60_000;

/**
 * Waits until the outboxes are copied, then compares both fact tables from the day of `sinceMs` on. Calls `found` with the
 * differences of one day, a few thousand at a time.
 */
export async function compareFacts(
  stores: FactStores,
  { sinceMs, signal }: { readonly sinceMs: number; readonly signal: AbortSignal },
  found: (table: FactTable, differences: readonly FactDifference[]) => Promise<void>,
): Promise<Comparison> {
  const days: AuditedDay[] = [];
  const waiting: string[] = [];
  for (const table of FACT_TABLES) {
    if (!(await awaitCopied(stores.db, table, { timeoutMs: COPY_TIMEOUT_MS, signal }))) {
      waiting.push(table.name);
    }
    for (const span of await listSpans(stores, table, sinceMs)) {
      for (const day of await findDifferingDays(stores, table, span)) {
        signal.throwIfAborted();
        const seen: FactDifference[] = [];
        const counts: Partial<Record<DifferenceKind, number>> = {};
        for await (const differences of findDifferences(stores, table, day)) {
          for (const { kind } of differences) counts[kind] = (counts[kind] ?? 0) + 1;
          seen.push(...differences.slice(0, RECORDS_SHOWN - seen.length));
          await found(table, differences);
        }
        if (seen.length > 0) days.push(auditedDay(table, day, counts, seen));
      }
    }
  }
  return { days, waiting };
}

function auditedDay(
  table: FactTable,
  day: DifferingDay,
  differences: AuditedDay["differences"],
  seen: readonly FactDifference[],
): AuditedDay {
  return {
    table: table.name,
    workspace_id: day.span.workspaceId,
    day: formatDay(day.span.fromMs / DAY_MS),
    postgres: auditedSums(table, day.postgres),
    clickhouse: auditedSums(table, day.clickhouse),
    differences,
    records: seen.map(({ kind, key: { id, atMs, offerId } }) => ({ kind, id, atMs, offerId })),
  };
}

function auditedSums(table: FactTable, sums: ReadonlyMap<string, FactSums>): AuditedSums {
  const money: Record<string, Record<string, string>> = {};
  for (const [currency, { money: amounts }] of sums) {
    money[currency] = Object.fromEntries(
      table.money.map((column, index) => [column, formatAmount(amounts[index] ?? 0n)]),
    );
  }
  return { rows: Number(rowsOf(sums)), money };
}
