/** What a view keeps of an address: its settings, without a record that is open or a page within the list. */
export function savedQuery(search: string): string {
  const params = new URLSearchParams(search);
  for (const name of ["open", "new", "page"]) params.delete(name);
  return params.toString();
}
