import pg from "pg";

/** Quotes the name of a table or column for a statement. Not for values: they are parameters. */
export function quoteIdentifier(name: string): string {
  return pg.escapeIdentifier(name);
}

/** Several names, as a list of columns; with `table`, for a statement that reads several tables, as columns of that table. */
export function quoteIdentifiers(names: readonly string[], table?: string): string {
  const prefix = table === undefined ? "" : `${pg.escapeIdentifier(table)}.`;
  return names.map((name) => prefix + pg.escapeIdentifier(name)).join(", ");
}

/** A condition of a statement: its text, whose first parameter is `$first`, and the values of its parameters. */
export type Condition = {
  readonly text: (first: number) => string;
  readonly values: readonly unknown[];
};

/** The conditions as ` and …` each, their parameters numbered from `first` on; "" for none. */
export function quoteConditions(conditions: readonly Condition[], first: number): string {
  let next = first;
  return conditions
    .map(({ text, values }) => {
      const condition = ` and ${text(next)}`;
      next += values.length;
      return condition;
    })
    .join("");
}
