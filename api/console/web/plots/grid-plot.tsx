import { Fragment, type ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { PlotFrame } from "./as-table.tsx";
import { heightOf } from "./pixels.ts";
import { Reading } from "./reading.tsx";
import { Scale } from "./scale.tsx";
import { shadeOf } from "./shade.ts";
import { useCursor } from "./use-cursor.ts";
import { useWidth } from "./use-width.ts";

export type GridCell = { readonly value: Figure; readonly text: string };

export type GridPlotProps = {
  readonly title: string;
  readonly says: string;
  /** What the rows are, such as "Weekday". */
  readonly rowHeading: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** A row of cells for each row. */
  readonly cells: readonly (readonly GridCell[])[];
  readonly onPick?: ((row: number, column: number) => void) | undefined;
};

const LABEL_ROOM = 84;
const TOP_ROOM = 20;
const ROW_HEIGHT = 26;
const GAP = 2;
const LETTER_WIDTH = 7;

/** Cells of two dimensions, the stronger the colour the more. Arrow keys move in four directions, Enter opens a cell. */
export function GridPlot(props: GridPlotProps): ReactElement {
  const { title, says, rowHeading, rows, columns, cells } = props;
  const table = {
    columns: [rowHeading, ...columns],
    rows: rows.map((name, row) => [name, ...(cells[row] ?? []).map(({ text }) => text)]),
  };
  return (
    <PlotFrame title={title} says={says} table={table}>
      <Grid {...props} />
    </PlotFrame>
  );
}

function Grid({ title, rows, columns, cells, onPick }: GridPlotProps): ReactElement {
  const { frame, width } = useWidth();
  const flat = cells.flat();
  const across = columns.length;
  const { at, setAt, onKeyDown } = useCursor({
    count: flat.length,
    columns: across,
    onPick: (index) => onPick?.(Math.floor(index / across), index % across),
  });
  const largest = Math.max(0, ...flat.map(({ value }) => heightOf(value) ?? 0));
  const step = (width - LABEL_ROOM) / Math.max(1, across);
  const height = TOP_ROOM + rows.length * ROW_HEIGHT;
  const read = at === undefined ? undefined : flat[at];
  const [row, column] = [Math.floor((at ?? 0) / across), (at ?? 0) % across];
  const left = (index: number): number => LABEL_ROOM + index * step;
  const top = (index: number): number => TOP_ROOM + index * ROW_HEIGHT;
  return (
    <div className="plot" ref={frame}>
      <svg
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${title}: ${rows.length} rows of ${across} cells, arrow keys read them`}
        tabIndex={0}
        className={onPick === undefined ? undefined : "opens"}
        onKeyDown={onKeyDown}
        onPointerLeave={() => setAt(undefined)}
      >
        {labelledColumns(columns, step).map((index) => (
          <text key={columns[index]} x={left(index)} y={TOP_ROOM - 7}>
            {columns[index]}
          </text>
        ))}
        {rows.map((name, index) => (
          <Fragment key={name}>
            <text x={0} y={top(index) + ROW_HEIGHT / 2 + 4}>
              {name}
            </text>
            {(cells[index] ?? []).map(({ value }, place) => (
              <rect
                key={columns[place]}
                x={left(place)}
                y={top(index)}
                width={Math.max(1, step - GAP)}
                height={ROW_HEIGHT - GAP}
                rx={3}
                {...shadeOf(value, largest)}
                onPointerEnter={() => setAt(index * across + place)}
                onClick={() => onPick?.(index, place)}
              />
            ))}
          </Fragment>
        ))}
        {read !== undefined && (
          <rect
            className="mark"
            x={left(column)}
            y={top(row)}
            width={Math.max(1, step - GAP)}
            height={ROW_HEIGHT - GAP}
            rx={3}
          />
        )}
      </svg>
      {read !== undefined && (
        <Reading at={left(column) + step / 2} top={top(row) + ROW_HEIGHT} width={width}>
          <strong>
            {rows[row]}, {columns[column]}
          </strong>
          <div>{read.text}</div>
        </Reading>
      )}
      <Scale />
    </div>
  );
}

/** Which columns get a label, so that none overlaps. */
function labelledColumns(columns: readonly string[], step: number): number[] {
  const longest = (1 + Math.max(0, ...columns.map((name) => name.length))) * LETTER_WIDTH;
  const every = Math.max(1, Math.ceil(longest / step));
  return columns.map((_, index) => index).filter((index) => index % every === 0);
}
