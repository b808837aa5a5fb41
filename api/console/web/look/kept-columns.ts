export type ListColumns = { readonly list: string; readonly columns: readonly string[] };

/** As many as the API keeps. */
const LISTS_MAX = 40;

/** The lists with other columns for one of them; without columns it is shown as it was built. The list that was changed last is the first. */
export function withColumns(
  lists: readonly ListColumns[],
  list: string,
  columns: readonly string[] | undefined,
): readonly ListColumns[] {
  const others = lists.filter((one) => one.list !== list);
  return [...(columns === undefined ? [] : [{ list, columns }]), ...others].slice(0, LISTS_MAX);
}
