import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import type { Page } from "../client/lists.ts";
import { formatCount } from "../format/figure.ts";
import type { Column } from "../parts/data-table.tsx";

/** More rows at once would make the page slow. The filters make a list shorter. */
const ROWS_MAX = 5_000;

/** The column with a box for each row, and one for all rows that are shown. */
export function choiceColumn<Row>({
  chosen,
  keyOf,
  isAll,
  setChosen,
  onAll,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly keyOf: (row: Row) => string;
  readonly isAll: boolean;
  readonly setChosen: (chosen: ReadonlySet<string>) => void;
  readonly onAll: () => void;
}): Column<Row> {
  const toggle = (key: string): void => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  return {
    name: "chosen",
    title: <input type="checkbox" aria-label="All rows" checked={isAll} onChange={onAll} />,
    cell: (row) => (
      <input
        type="checkbox"
        aria-label={`Select ${keyOf(row)}`}
        checked={chosen.has(keyOf(row))}
        onChange={() => toggle(keyOf(row))}
      />
    ),
  };
}

/** Loads the rest of a list and chooses all of it. */
export function ChooseAll<Row>({
  list,
  onAll,
}: {
  readonly list: UseInfiniteQueryResult<InfiniteData<Page<Row>>>;
  readonly onAll: (rows: readonly Row[]) => void;
}): ReactElement {
  const [loaded, setLoaded] = useState<number>();
  const load = async (): Promise<void> => {
    let rows: readonly Row[] = [];
    for (let result = await list.fetchNextPage(); ; result = await list.fetchNextPage()) {
      rows = result.data?.pages.flatMap((page) => page.data) ?? [];
      setLoaded(rows.length);
      // After a failure the list shows it, and what was loaded is chosen.
      if (!result.hasNextPage || result.isError || rows.length >= ROWS_MAX) break;
    }
    onAll(rows);
    setLoaded(undefined);
  };
  return (
    <button
      type="button"
      className="button"
      disabled={loaded !== undefined}
      onClick={() => void load()}
    >
      {loaded === undefined ? "Select all matching" : `${formatCount(loaded)} loaded`}
    </button>
  );
}
