import { type Condition, quoteIdentifiers } from "../../schemas/postgres/quote.ts";
import { likePattern } from "../operation/codes.ts";

/** Builds the condition of a list filter for a value. */
export type Filter = (value: unknown) => Condition;

/** Values by name of the filter; undefined if the filter is not set. */
export type FilterValues = Readonly<Record<string, unknown>>;

/** The conditions of the filters that are set. A filter that is not `special` means "the column of this name in `table` has this value". */
export function conditionsOf(
  values: FilterValues,
  special: Readonly<Record<string, Filter>> = {},
  table?: string,
): readonly Condition[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => (special[name] ?? equals(quoteIdentifiers([name], table)))(value));
}

export function equals(expression: string): Filter {
  return (value) => ({ text: (first) => `${expression} = $${first}`, values: [value] });
}

/** The value is a list of ids. */
export function isAnyOf(column: string): Filter {
  return (ids) => ({ text: (first) => `${column} = any($${first}::integer[])`, values: [ids] });
}

/** The column is a list of texts. */
export function hasMember(column: string): Filter {
  return (value) => ({ text: (first) => `$${first} = any(${column})`, values: [value] });
}

/** One of the columns contains the text, or one of `codes` equals it; case is ignored (T72). */
export function matches(columns: readonly string[], codes: readonly string[] = []): Filter {
  return (value) => ({
    text: (first) => {
      const contain = columns.map((column) => `${column} ilike $${first}`);
      const equal = codes.map((code) => `lower(${code}) = lower($${first + 1}::text)`);
      return `(${[...contain, ...equal].join(" or ")})`;
    },
    values: codes.length === 0 ? [likePattern(String(value))] : [likePattern(String(value)), value],
  });
}
