/** What the order of columns needs to know of one. */
type Placed = {
  readonly name: string;
  readonly isOptional?: boolean | undefined;
  readonly isEarly?: boolean | undefined;
  readonly opens?: boolean | undefined;
};

export type ColumnPlace = { readonly name: string; readonly isShown: boolean };

const HIDDEN = "-";

/** Names the row, so it is always shown, and first: the column that opens the record, or the first one. */
function leadOf<Column extends Placed>(columns: readonly Column[]): Column | undefined {
  return columns.find(({ opens }) => opens === true) ?? columns[0];
}

/**
 * All columns in their order. `kept` is what {@link keptPlaces} wrote, maybe for another release: unknown names are passed over, and a new
 * column stands behind the column that it was built behind.
 */
export function placesOf(
  columns: readonly Placed[],
  kept: readonly string[] = [],
): readonly ColumnPlace[] {
  const lead = leadOf(columns);
  const known = new Map(columns.map((column) => [column.name, column]));
  const places = new Map<string, ColumnPlace>();
  for (const word of kept) {
    const isShown = !word.startsWith(HIDDEN);
    const name = isShown ? word : word.slice(HIDDEN.length);
    if (known.has(name) && !places.has(name)) places.set(name, { name, isShown });
  }
  const order = [...places.values()];
  for (const [at, { name, isOptional }] of columns.entries()) {
    if (places.has(name)) continue;
    const before = columns[at - 1]?.name;
    order.splice(order.findIndex((place) => place.name === before) + 1, 0, {
      name,
      isShown: isOptional !== true,
    });
  }
  const others = order.filter(({ name }) => name !== lead?.name);
  return lead === undefined ? others : [{ name: lead.name, isShown: true }, ...others];
}

/** As words for the preferences of a person. */
export function keptPlaces(places: readonly ColumnPlace[]): readonly string[] {
  return places.map(({ name, isShown }) => (isShown ? name : HIDDEN + name));
}

/** The names that an address has: only these are shown. */
export function addressedPlaces(
  columns: readonly Placed[],
  names: string,
): readonly string[] | undefined {
  const chosen = names.split(",").filter((name) => columns.some((column) => column.name === name));
  if (chosen.length === 0) return undefined;
  const others = columns.filter(({ name }) => !chosen.includes(name));
  return [...chosen, ...others.map(({ name }) => HIDDEN + name)];
}

export function placesAddress(places: readonly ColumnPlace[]): string {
  return places.flatMap(({ name, isShown }) => (isShown ? [name] : [])).join(",");
}

/** One place up (-1) or down (1). The first column stays first. */
export function moved(
  places: readonly ColumnPlace[],
  name: string,
  by: -1 | 1,
): readonly ColumnPlace[] {
  const from = places.findIndex((place) => place.name === name);
  const to = from + by;
  const place = places[from];
  if (place === undefined || from === 0 || to < 1 || to >= places.length) return places;
  const rest = places.filter((one) => one !== place);
  return [...rest.slice(0, to), place, ...rest.slice(to)];
}

export function toggled(places: readonly ColumnPlace[], name: string): readonly ColumnPlace[] {
  return places.map((place, at) =>
    place.name === name && at > 0 ? { name, isShown: !place.isShown } : place,
  );
}

/** The columns that are shown, in their order. */
export function arranged<Column extends Placed>(
  columns: readonly Column[],
  places: readonly ColumnPlace[],
): readonly Column[] {
  const known = new Map(columns.map((column) => [column.name, column]));
  return places.flatMap(({ name, isShown }) => {
    const column = known.get(name);
    return isShown && column !== undefined ? [column] : [];
  });
}

/** For a phone: what names the row, then its state and money, then the rest. */
export function earlyFirst<Column extends Placed>(columns: readonly Column[]): readonly Column[] {
  const lead = leadOf(columns);
  const isEarly = (column: Column): boolean => column === lead || column.isEarly === true;
  return [...columns.filter(isEarly), ...columns.filter((column) => !isEarly(column))];
}

/** Whether somebody has moved a column, not only hidden or shown some. */
export function isReordered(columns: readonly Placed[], places: readonly ColumnPlace[]): boolean {
  return placesOf(columns).some(({ name }, at) => places[at]?.name !== name);
}
