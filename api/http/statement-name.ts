/**
 * The name of a list's prepared statement if no filter is set, so that the connection caches its plan. With a filter the statement has
 * no name and is planned for each value, because a cached plan would scan the whole list for a rare value.
 */
export function statementName(
  name: string,
  filters: Readonly<Record<string, unknown>>,
): { readonly name?: string } {
  return Object.values(filters).every((value) => value === undefined) ? { name } : {};
}
