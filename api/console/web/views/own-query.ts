/**
 * What a view keeps of an address: its settings, without a record that is open or a page within the list. `shown` is what the screen shows
 * and the address does not say, such as columns.
 */
export function savedQuery(
  search: string,
  shown: Readonly<Record<string, string | undefined>> = {},
): string {
  const params = new URLSearchParams(search);
  for (const name of ["open", "new", "page"]) params.delete(name);
  for (const [name, value] of Object.entries(shown)) {
    if (value !== undefined) params.set(name, value);
  }
  return params.toString();
}
