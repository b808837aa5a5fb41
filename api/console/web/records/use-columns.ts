import { useSyncExternalStore } from "react";
import type { AddressChange } from "../address/use-address.ts";
import { useKeptColumns } from "../look/use-kept-columns.ts";
import type { Column } from "../parts/data-table.tsx";
import {
  addressedPlaces,
  arranged,
  type ColumnPlace,
  earlyFirst,
  isReordered,
  keptPlaces,
  moved,
  placesAddress,
  placesOf,
  toggled,
} from "./column-order.ts";

/** What the menu of columns shows and does. */
export type ColumnChoice = {
  readonly places: readonly ColumnPlace[];
  /** What people call each column. */
  readonly titles: Readonly<Record<string, string>>;
  readonly isChosen: boolean;
  readonly error: Error | null;
  readonly toggle: (name: string) => void;
  readonly move: (name: string, by: -1 | 1) => void;
  readonly reset: () => void;
};

const ADDRESS = "columns";

/**
 * The columns of a list as the person wants them. An address with columns, such as a saved view's, comes before what the person has kept,
 * and is changed in its place.
 */
export function useColumns<Row>({
  name,
  columns,
  search,
  onAddress,
}: {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly search: URLSearchParams;
  /** Undefined for a list that has no saved views. */
  readonly onAddress: ((change: AddressChange) => void) | undefined;
}): {
  readonly shown: readonly Column<Row>[];
  readonly choice: ColumnChoice;
  /** What a saved view keeps. */
  readonly saved: AddressChange;
} {
  const isNarrow = useIsNarrow();
  const { kept, keep, error } = useKeptColumns(name);
  const titles = titlesOf(columns);
  // A column without a title holds buttons, and stays the last.
  const named = columns.filter((column) => titles[column.name] !== undefined);
  const buttons = columns.filter((column) => titles[column.name] === undefined);
  const addressed =
    onAddress === undefined ? undefined : addressedPlaces(named, search.get(ADDRESS) ?? "");
  const chosen = addressed ?? kept;
  const places = placesOf(named, chosen);
  const change = (to: readonly ColumnPlace[]): void => {
    if (addressed === undefined) keep(keptPlaces(to));
    else onAddress?.({ [ADDRESS]: placesAddress(to) });
  };
  const placed = arranged(named, places);
  const ordered = isNarrow && !isReordered(named, places) ? earlyFirst(placed) : placed;
  return {
    shown: [...ordered, ...buttons],
    saved: chosen === undefined ? {} : { [ADDRESS]: placesAddress(places) },
    choice: {
      places,
      titles,
      error,
      isChosen: chosen !== undefined,
      toggle: (column) => change(toggled(places, column)),
      move: (column, by) => change(moved(places, column, by)),
      reset: () => {
        if (addressed !== undefined) onAddress?.({ [ADDRESS]: undefined });
        if (kept !== undefined) keep(undefined);
      },
    },
  };
}

function titlesOf<Row>(columns: readonly Column<Row>[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    columns.flatMap(({ name, title }) =>
      typeof title === "string" && title !== "" ? [[name, title] as const] : [],
    ),
  );
}

const NARROW = matchMedia("(max-width: 560px)");

/** The columns of a table that nobody can arrange: on a phone, money comes first. */
export function useEarlyColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  return useIsNarrow() ? earlyFirst(columns) : columns;
}

function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      NARROW.addEventListener("change", onChange);
      return () => NARROW.removeEventListener("change", onChange);
    },
    () => NARROW.matches,
  );
}
