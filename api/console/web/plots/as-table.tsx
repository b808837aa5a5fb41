import { type ReactElement, type ReactNode, useState } from "react";
import { StrangerText } from "../parts/stranger-text.tsx";

export type PlotTable = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** A plot with its title, a sentence that says what it shows, and the same data as a table behind one button. */
export function PlotFrame({
  title,
  says,
  table,
  children,
}: {
  readonly title: string;
  readonly says: string;
  readonly table: PlotTable;
  readonly children: ReactNode;
}): ReactElement {
  const [isTable, setTable] = useState(false);
  return (
    <section className="panel" aria-label={title}>
      <header>
        <div className="grow">
          <h2>{title}</h2>
          <p className="muted">{says}</p>
        </div>
        <button
          type="button"
          className="button plain"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? "Chart" : "Table"}
        </button>
      </header>
      {isTable ? <AsTable {...table} /> : children}
    </section>
  );
}

function AsTable({ columns, rows }: PlotTable): ReactElement {
  return (
    <div
      className="table-frame"
      tabIndex={0}
      role="region"
      aria-label="The same figures as a table"
    >
      <table className="data-table">
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={column} scope="col" className={at === 0 ? undefined : "number"}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={`${row} ${cells[0] ?? ""}`}>
              {cells.map((cell, at) => (
                <td key={columns[at]} className={at === 0 ? undefined : "number"}>
                  <StrangerText text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
