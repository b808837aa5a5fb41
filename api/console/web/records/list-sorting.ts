import type { Column, Sorting } from "../parts/data-table.tsx";

/** Parameter of the API and of the address. */
export const SORT = "sort";

type Sortable = Pick<Column<never>, "name" | "sort" | "isNewestFirst">;

/** The order that the address asks for, if the list has it. */
export function givenSort(
  search: URLSearchParams,
  columns: readonly Sortable[],
): string | undefined {
  const given = search.get(SORT) ?? "";
  return columns.some(({ sort }) => sort !== undefined && sort === nameIn(given))
    ? given
    : undefined;
}

/** What the headers say of an order. */
export function sortingOf(sort: string, columns: readonly Sortable[]): Sorting | undefined {
  const column = columns.find((one) => one.sort === nameIn(sort));
  return column === undefined
    ? undefined
    : { name: column.name, isDescending: sort.startsWith("-") };
}

/** The order after a click on a header. Undefined for the list's own, which the address need not say. */
export function nextSort(
  { sort = "", isNewestFirst = false }: Sortable,
  now: string,
  own: string,
): string | undefined {
  const first = isNewestFirst ? `-${sort}` : sort;
  const second = isNewestFirst ? sort : `-${sort}`;
  const next = now === first ? second : first;
  return next === own ? undefined : next;
}

function nameIn(sort: string): string {
  return sort.replace(/^-/, "");
}
