import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { copyCells } from "./copied-cells.ts";

export type Column<Row> = {
  readonly name: string;
  readonly title: ReactNode;
  readonly isNumber?: boolean | undefined;
  readonly cell: (row: Row) => ReactNode;
  /** The last row; a list without totals leaves it out. */
  readonly total?: ReactNode;
  readonly isSortable?: boolean | undefined;
  /** Its cells open the record. */
  readonly opens?: boolean | undefined;
};

export type Sorting = { readonly name: string; readonly isDescending: boolean };

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
  const hasTotals = columns.some(({ total }) => total !== undefined);
  return (
    <div
      className={isUpdating ? "table-frame is-updating" : "table-frame"}
      tabIndex={0}
      role="region"
      aria-label={caption}
      onCopy={copyCells}
    >
      <table className="data-table">
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
              {columns.map(({ name, total, isNumber }) => (
                <td key={name} className={isNumber === true ? "number" : undefined}>
                  {total}
                </td>
              ))}
            </tr>
          )}
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              onDoubleClick={onOpen === undefined ? undefined : () => onOpen(row)}
            >
              {columns.map(({ name, cell, isNumber, opens }) => (
                <td key={name} className={isNumber === true ? "number" : undefined}>
                  {opens === true && onOpen !== undefined ? (
                    <button type="button" className="cell-button" onClick={() => onOpen(row)}>
                      {cell(row)}
                    </button>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
