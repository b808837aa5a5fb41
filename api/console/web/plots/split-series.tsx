import type { PointerEvent, ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { StrangerText } from "../parts/stranger-text.tsx";
import { PlotFrame } from "./as-table.tsx";
import { Legend, type LegendEntry } from "./legend.tsx";
import { heightOf } from "./pixels.ts";
import { Reading } from "./reading.tsx";
import { Grid, HEIGHT, nearest, pathOf, ROOM, scalesOf } from "./series-grid.tsx";
import { useCursor } from "./use-cursor.ts";
import { useDrag } from "./use-drag.ts";
import { useWidth } from "./use-width.ts";

type SplitLine = {
  readonly name: string;
  /** One for each bucket. */
  readonly values: readonly Figure[];
  /** Whether it is all that has no line of its own. */
  readonly isRest?: boolean;
};

type SplitSeriesProps = {
  readonly title: string;
  readonly says: string;
  /** Names of the buckets. */
  readonly buckets: readonly string[];
  readonly lines: readonly SplitLine[];
  readonly format: (value: Figure) => string;
  readonly formatTick: (value: number) => string;
  readonly onPick: (at: number) => void;
  readonly onRange: (first: number, last: number) => void;
};

/** Dashes tell the lines apart where colours do not. */
const DASHES = [undefined, "8 3", "2 3", "12 3 2 3", "5 5"];
const REST: Omit<LegendEntry, "name"> = {
  className: "series",
  colour: "var(--plot-6)",
  dashes: "1 4",
};

/** One metric over time, a line for each of some values. Arrow keys move from bucket to bucket, Enter opens one; a drag opens a range. */
export function SplitSeries(props: SplitSeriesProps): ReactElement {
  const { title, says, buckets, lines, format } = props;
  const rows = buckets.map((bucket, at) => [
    bucket,
    ...lines.map(({ values }) => format(values[at] ?? null)),
  ]);
  const columns = ["Time", ...lines.map(({ name }) => name)];
  return (
    <PlotFrame title={title} says={says} table={{ columns, rows }}>
      <Legend entries={lines.map(entryOf)} />
      <Drawing {...props} />
    </PlotFrame>
  );
}

function entryOf({ name, isRest = false }: SplitLine, at: number): LegendEntry {
  if (isRest) return { name, ...REST };
  return { name, className: "series", colour: `var(--plot-${at + 1})`, dashes: DASHES[at] };
}

function Drawing({
  title,
  buckets,
  lines,
  format,
  formatTick,
  onPick,
  onRange,
}: SplitSeriesProps): ReactElement {
  const { frame, width } = useWidth();
  const count = buckets.length;
  const heights = lines.flatMap(({ values }) => values.map(heightOf));
  const { x, y, ticks } = scalesOf({ count, heights, width });
  const { at, setAt, onKeyDown } = useCursor({ count, first: count - 1, onPick });
  const under = (event: PointerEvent<SVGSVGElement>): number | undefined =>
    nearest(event.clientX - event.currentTarget.getBoundingClientRect().left, x, count);
  const { range, press, release, leave } = useDrag({ at, onPick, onRange });
  return (
    <div className="plot" ref={frame}>
      <svg
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        className="opens"
        aria-label={`${title}: ${lines.length} lines of ${count} points, arrow keys read them`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerMove={(event) => setAt(under(event))}
        onPointerLeave={() => setAt(undefined)}
        onPointerDown={(event) => {
          setAt(under(event));
          press(under(event));
        }}
        onPointerUp={(event) => release(under(event))}
        onPointerCancel={leave}
      >
        {range !== undefined && (
          <rect
            className="band"
            x={x(range[0])}
            width={x(range[1]) - x(range[0])}
            y={ROOM.top}
            height={HEIGHT - ROOM.top - ROOM.bottom}
          />
        )}
        <Grid labels={buckets} width={width} x={x} y={y} ticks={ticks} format={formatTick} />
        {lines.map((one, index) => (
          <Line
            key={one.name}
            entry={entryOf(one, index)}
            d={pathOf(one.values.map(heightOf), x, y)}
          />
        ))}
        {at !== undefined && (
          <line className="cursor" x1={x(at)} x2={x(at)} y1={ROOM.top} y2={HEIGHT - ROOM.bottom} />
        )}
      </svg>
      {at !== undefined && (
        <Reading at={x(at)} width={width}>
          <strong>{buckets[at]}</strong>
          {lines.map(({ name, values }) => (
            <div key={name}>
              <StrangerText text={name} />: {format(values[at] ?? null)}
            </div>
          ))}
        </Reading>
      )}
    </div>
  );
}

function Line({
  entry: { className, colour, dashes },
  d,
}: {
  readonly entry: LegendEntry;
  readonly d: string;
}): ReactElement {
  return <path className={className} stroke={colour} strokeDasharray={dashes} d={d} />;
}
