import { z } from "zod";
import type { Clickhouse } from "../clickhouse/connect.ts";
import { clickhouseCode } from "../clickhouse/errors.ts";
import { selectRows } from "../clickhouse/select.ts";
import type { Queryable } from "../postgres/connect.ts";
import { postgresCode, SQLSTATE } from "../postgres/errors.ts";
import type { FactTable } from "./fact-table.ts";

/** The two stores that are compared. */
export type FactStores = { readonly db: Queryable; readonly clickhouse: Clickhouse };

/** Records of one workspace from `fromMs` up to before `toMs`, UTC milliseconds. */
export type Span = { readonly workspaceId: number; readonly fromMs: number; readonly toMs: number };

/** Sums over the records of a group. If they are equal in both stores, the records are equal. */
export type FactSums = {
  readonly rows: bigint;
  readonly versions: bigint;
  /** By money column of the table, in ten-thousandths, for one currency. */
  readonly money: readonly bigint[];
  /** Sum of a 32-bit hash of each row's content. It differs even if two rows have swapped values. */
  readonly hash: bigint;
};

/** Groups of records: periods of `ms` by their start, or `count` slices by a hash of the id. */
export type Grouping = { readonly by: "period"; readonly ms: number } | Slices;
export type Slices = { readonly by: "slice"; readonly count: number };

/** Sums by group and currency. */
export type GroupedSums = ReadonlyMap<string, FactSums>;

const Row = z.object({
  grp: z.coerce.number(),
  currency: z.string(),
  rows: z.coerce.bigint(),
  versions: z.coerce.bigint(),
  money: z.array(z.string()),
  hash: z.coerce.bigint(),
});
const CLICKHOUSE_TIMEOUT_EXCEEDED = "159";
/** A span is not halved below this. */
const SPAN_MS_MIN = 60_000;
const STATEMENT_TIMEOUT_MS = 8_000;

/** The parts of a key of {@link GroupedSums}. */
export function groupOf(key: string): { readonly group: number; readonly currency: string } {
  const [group = "", currency = ""] = key.split(" ");
  return { group: Number(group), currency };
}

/** Keys with different sums. A group that only one store has differs. */
export function differingKeys(one: GroupedSums, other: GroupedSums): string[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => !isEqual(one.get(key), other.get(key)));
}

/** Sums a span in halves if it is too large for the time limit of a statement. */
export async function clickhouseSums(
  stores: FactStores,
  table: FactTable,
  span: Span,
  grouping: Grouping,
): Promise<GroupedSums> {
  return await inHalves(span, async (part) => {
    const { sumsByPeriod, sumsBySlice } = table.clickhouse;
    const rows = await selectRows(
      stores.clickhouse,
      {
        name: "facts.sums",
        text: grouping.by === "period" ? sumsByPeriod : sumsBySlice,
        params: {
          workspace: part.workspaceId,
          from: part.fromMs,
          to: part.toMs,
          unit: unitOf(grouping),
        },
        timeoutMs: STATEMENT_TIMEOUT_MS,
      },
      Row,
    );
    return keyed(rows);
  });
}

/** The same of Postgres. */
export async function postgresSums(
  stores: FactStores,
  table: FactTable,
  span: Span,
  grouping: Grouping,
): Promise<GroupedSums> {
  return await inHalves(span, async (part) => {
    const { table: records, sumsByPeriod, sumsBySlice } = table.postgres;
    const { rows } = await stores.db.query({
      name: `sums-of-${records}-by-${grouping.by}`,
      text: grouping.by === "period" ? sumsByPeriod : sumsBySlice,
      values: [...spanValues(part), unitOf(grouping)],
    });
    return keyed(z.array(Row).parse(rows));
  });
}

/** Workspace, start and end as parameters of Postgres statements. */
export function spanValues(span: Span): [number, string, string] {
  return [span.workspaceId, utcText(span.fromMs), utcText(span.toMs)];
}

function unitOf(grouping: Grouping): number {
  return grouping.by === "period" ? grouping.ms : grouping.count;
}

function utcText(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}

async function inHalves(
  span: Span,
  read: (part: Span) => Promise<GroupedSums>,
): Promise<GroupedSums> {
  try {
    return await read(span);
  } catch (error) {
    if (!isTooSlow(error) || span.toMs - span.fromMs < 2 * SPAN_MS_MIN) throw error;
    const minutes = Math.floor((span.toMs - span.fromMs) / 2 / SPAN_MS_MIN);
    const middleMs = span.fromMs + minutes * SPAN_MS_MIN;
    const left = await inHalves({ ...span, toMs: middleMs }, read);
    const right = await inHalves({ ...span, fromMs: middleMs }, read);
    return added(left, right);
  }
}

/** Whether the statement exceeded its time limit. False if the server is away. */
function isTooSlow(error: unknown): boolean {
  return (
    postgresCode(error) === SQLSTATE.queryCanceled ||
    clickhouseCode(error) === CLICKHOUSE_TIMEOUT_EXCEEDED
  );
}

function keyed(rows: readonly z.infer<typeof Row>[]): GroupedSums {
  return new Map(
    rows.map(({ grp, currency, money, ...sums }) => [
      `${grp} ${currency}`,
      { ...sums, money: money.map((amount) => BigInt(amount.replace(".", ""))) },
    ]),
  );
}

function added(one: GroupedSums, other: GroupedSums): GroupedSums {
  const sums = new Map(one);
  for (const [key, more] of other) {
    const known = sums.get(key);
    sums.set(key, known === undefined ? more : sumOf(known, more));
  }
  return sums;
}

function sumOf(one: FactSums, other: FactSums): FactSums {
  return {
    rows: one.rows + other.rows,
    versions: one.versions + other.versions,
    money: one.money.map((amount, index) => amount + (other.money[index] ?? 0n)),
    hash: one.hash + other.hash,
  };
}

function isEqual(one: FactSums | undefined, other: FactSums | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.rows === other.rows &&
    one.versions === other.versions &&
    one.hash === other.hash &&
    one.money.every((amount, index) => amount === other.money[index])
  );
}
