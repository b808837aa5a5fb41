import pg from "pg";

/** A name of a table or column for the text of a statement, quoted. Values never go this way: they are parameters. */
export function quoteIdentifier(name: string): string {
  return pg.escapeIdentifier(name);
}

/** Several names, as a list of columns. */
export function quoteIdentifiers(names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join(", ");
}

/** The condition that each column has the value of a parameter, numbered from `first` on; "" for no columns. */
export function quoteConditions(columns: readonly string[], first: number): string {
  return columns
    .map((column, index) => ` and ${pg.escapeIdentifier(column)} = $${first + index}`)
    .join("");
}
