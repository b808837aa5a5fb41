import type { z } from "zod";
import type { Position } from "../operation/cursor.ts";
import { wordParam } from "./query-fields.ts";

/** A column by which a list can be sorted: an index has it behind the owner of the rows. */
export type SortColumn = {
  /** As the index has it. */
  readonly expression: string;
  /** The value of a position in the form of the expression. */
  readonly bound: (parameter: string) => string;
  /** What lies before the first and behind the last value, if any value does. */
  readonly ends?: readonly [first: string, last: string];
};

/** Names, whatever their letters are. The index compares bytes, so that it is the same on every server. */
export function byName(column: string): SortColumn {
  const form = (text: string): string => `lower(${text}) collate "C"`;
  return { expression: form(column), bound: (parameter) => form(`${parameter}::text`) };
}

/** Codes, by the index that keeps them apart. */
export function byCode(column: string): SortColumn {
  return { expression: `lower(${column})`, bound: (parameter) => `lower(${parameter}::text)` };
}

export function byTime(column: string): SortColumn {
  return {
    expression: column,
    bound: (parameter) => `${parameter}::timestamptz`,
    ends: ["-infinity", "infinity"],
  };
}

/** `sort` of a list: one of its sortable columns. */
export function sortParam<const Names extends readonly [string, ...string[]]>(
  standard: NoInfer<`-${Names[number]}`>,
  ...names: Names
): z.ZodType<Names[number] | `-${Names[number]}` | undefined> {
  return wordParam(...both(names)).meta({
    description: `A leading \`-\` sorts downwards; default \`${standard}\``,
  });
}

function both<const Name extends string>(
  names: readonly [Name, ...Name[]],
): [Name | `-${Name}`, ...(Name | `-${Name}`)[]] {
  const [first, ...others] = names;
  return [first, `-${first}`, ...others.flatMap((name) => [name, `-${name}`] as const)];
}

/** The column that `sort` names, without the sign. */
export function sortedBy(sort: string): string {
  return sort.replace(/^-/, "");
}

export function isDescending(sort: string): boolean {
  return sort.startsWith("-");
}

/** Where a page begins and how it is ordered, for a statement whose parameters `$2` and `$3` are the position. */
export type Keyset = {
  readonly isAfter: string;
  readonly order: string;
  readonly at: string | null;
};

export function keysetOf(
  { expression, bound, ends }: SortColumn,
  sort: string,
  {
    id,
    type,
    after,
  }: { readonly id: string; readonly type: "integer" | "uuid" } & {
    readonly after: Position | undefined;
  },
): Keyset {
  const down = isDescending(sort);
  const isAfter = `(${expression}, ${id}) ${down ? "<" : ">"} (${bound("$2")}, $3::${type})`;
  return {
    // A first page of texts has no position. The statement has no name, so the planner sees that nothing is asked.
    isAfter: ends === undefined ? `($2::text is null or ${isAfter})` : isAfter,
    order: `${expression} ${down ? "desc" : "asc"}, ${id} ${down ? "desc" : "asc"}`,
    at: after?.at ?? ends?.[down ? 1 : 0] ?? null,
  };
}

/** The condition that rows lie behind the position, which is `$2` and `$3`. Its columns are those of the list's description. */
export function quoteAfter({ isAfter }: Keyset): string {
  return isAfter;
}

/** What stands behind `order by`. */
export function quoteOrder({ order }: Keyset): string {
  return order;
}

/** The position of a row in a list that is sorted so. */
export function positionIn(
  row: { readonly id: number; readonly created_at: string } & Readonly<Record<string, unknown>>,
  sort: string | undefined,
): Position {
  const at = sort === undefined ? row.created_at : row[sortedBy(sort)];
  return { at: String(at), id: String(row.id) };
}
