/**
 * The name of a list's prepared statement, under which a connection keeps its plan, if the list has no filters. With a filter the
 * statement has no name and is planned for its value: a plan for any value would walk the whole list for a rare one.
 */
export function keptPlan(
  name: string,
  filters: Readonly<Record<string, unknown>>,
): { readonly name?: string } {
  return Object.values(filters).every((value) => value === undefined) ? { name } : {};
}
