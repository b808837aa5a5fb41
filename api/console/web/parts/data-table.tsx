import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactElement, type ReactNode, useRef } from "react";
import { copyCells } from "./copied-cells.ts";
import { decimalsIn, missingDecimals } from "./decimals.ts";
import { type LongRowProps, LongRows } from "./long-rows.tsx";

export type Column<Row> = {
  /** `at` is the time of the row, which is never cut off. */
  readonly name: string;
  readonly title: ReactNode;
  readonly isNumber?: boolean | undefined;
  readonly cell: (row: Row) => ReactNode;
  /** The last row; a list without totals leaves it out. */
  readonly total?: ReactNode;
  readonly isSortable?: boolean | undefined;
  /** The name by which the service sorts the list, in `sort`. */
  readonly sort?: string | undefined;
  /** The first click on its header shows the newest first. */
  readonly isNewestFirst?: boolean | undefined;
  /** Hidden until somebody chooses it. */
  readonly isOptional?: boolean | undefined;
  /** Money or a state, which a phone shows first. */
  readonly isEarly?: boolean | undefined;
  /** Its cells open the record. */
  readonly opens?: boolean | undefined;
};

export type Sorting = { readonly name: string; readonly isDescending: boolean };

/** Longer tables draw only the rows in view. */
const ROWS_DRAWN_MAX = 200;

type DataTableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sorting?: Sorting | undefined;
  readonly onSort?: ((name: string) => void) | undefined;
  readonly onOpen?: ((row: Row) => void) | undefined;
  readonly isUpdating?: boolean | undefined;
};

/** Rows that the server has sorted, filtered and paged. */
export function DataTable<Row>(props: DataTableProps<Row>): ReactElement {
  const { caption, columns, rows, keyOf, onOpen, isUpdating = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const hasTotals = columns.some(({ total }) => total !== undefined);
  const isLong = rows.length > ROWS_DRAWN_MAX;
  // A long table draws few of its rows, and asks for no cell of the others.
  const decimals = isLong ? [] : columns.map((column) => mostDecimals(column, rows));
  const row = (at: number, more?: LongRowProps): ReactElement | null => {
    const one = rows[at];
    return one === undefined ? null : (
      <BodyRow key={keyOf(one)} row={one} {...{ columns, decimals, onOpen, more }} />
    );
  };
  return (
    <div
      ref={frame}
      className={isUpdating ? "table-frame is-updating" : "table-frame"}
      tabIndex={0}
      role="region"
      aria-label={caption}
      onCopy={copyCells}
    >
      <table className="data-table" aria-rowcount={isLong ? rows.length + 1 : undefined}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeaderCell key={column.name} column={column} {...props} />
            ))}
          </tr>
        </thead>
        <tbody>
          {hasTotals && (
            <tr className="totals">
              {columns.map(({ name, total, isNumber }, at) => (
                <td key={name} className={isNumber === true ? "number" : undefined}>
                  {total}
                  <DigitsRoom cell={total} most={decimals[at]} />
                </td>
              ))}
            </tr>
          )}
          {isLong ? (
            <LongRows frame={frame} count={rows.length} row={row} />
          ) : (
            rows.map((_, at) => row(at))
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Digits after the point that the cells of a column have at most. */
function mostDecimals<Row>(
  { isNumber, cell, total }: Column<Row>,
  rows: readonly Row[],
): number | undefined {
  if (isNumber !== true) return undefined;
  return Math.max(decimalsIn(total), ...rows.map((row) => decimalsIn(cell(row))));
}

function classOf(name: string, isNumber: boolean | undefined): string | undefined {
  if (isNumber === true) return "number";
  return name === "at" ? "instant" : undefined;
}

/** Keeps the points of a column one below the other, where some amounts have four decimals and others two. */
function DigitsRoom({
  cell,
  most,
}: {
  readonly cell: ReactNode;
  readonly most: number | undefined;
}): ReactElement | null {
  const missing = missingDecimals(cell, most);
  if (missing === 0) return null;
  return <span className="digits-room" aria-hidden style={{ width: `${missing}ch` }} />;
}

function BodyRow<Row>({
  row,
  columns,
  decimals,
  onOpen,
  more,
}: Pick<DataTableProps<Row>, "columns" | "onOpen"> & {
  readonly row: Row;
  readonly decimals: readonly (number | undefined)[];
  readonly more: LongRowProps | undefined;
}): ReactElement {
  return (
    <tr {...more} onDoubleClick={onOpen === undefined ? undefined : () => onOpen(row)}>
      {columns.map(({ name, cell, isNumber, opens }, at) => {
        const content = cell(row);
        return (
          <td key={name} className={classOf(name, isNumber)}>
            {opens === true && onOpen !== undefined ? (
              <button type="button" className="cell-button" onClick={() => onOpen(row)}>
                {content}
              </button>
            ) : (
              content
            )}
            <DigitsRoom cell={content} most={decimals[at]} />
          </td>
        );
      })}
    </tr>
  );
}

function HeaderCell<Row>({
  column: { name, title, isNumber, isSortable },
  sorting,
  onSort,
}: Pick<DataTableProps<Row>, "sorting" | "onSort"> & {
  readonly column: Column<Row>;
}): ReactElement {
  const isSorted = sorting?.name === name;
  const direction = sorting?.isDescending === true ? "descending" : "ascending";
  const Arrow = sorting?.isDescending === true ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      className={isNumber === true ? "number" : undefined}
      aria-sort={isSorted ? direction : undefined}
    >
      {isSortable === true && onSort !== undefined ? (
        <button type="button" onClick={() => onSort(name)}>
          {title} {isSorted && <Arrow size={12} aria-hidden />}
        </button>
      ) : (
        title
      )}
    </th>
  );
}
