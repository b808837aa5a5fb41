/**
 * The name of a list's statement, under which a connection keeps its plan, as long as nothing is filtered. With a filter there
 * is no name, and so a plan for its value: one kept for any value walks the list past all rows that do not have a rare one.
 */
export function keptPlan(
  name: string,
  filters: Readonly<Record<string, unknown>>,
): { readonly name?: string } {
  return Object.values(filters).every((value) => value === undefined) ? { name } : {};
}
