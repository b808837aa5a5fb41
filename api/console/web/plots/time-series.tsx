import type { PointerEvent, ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { PlotFrame } from "./as-table.tsx";
import { Legend } from "./legend.tsx";
import { heightOf } from "./pixels.ts";
import { Reading } from "./reading.tsx";
import { Grid, HEIGHT, nearest, type Place, pathOf, ROOM, scalesOf } from "./series-grid.tsx";
import { useCursor } from "./use-cursor.ts";
import { useDrag } from "./use-drag.ts";
import { useWidth } from "./use-width.ts";

export type SeriesPoint = {
  /** Name of the bucket, such as "Nov 25". */
  readonly label: string;
  readonly value: Figure;
  /** Value of the same bucket in the compared period. */
  readonly compared?: Figure | undefined;
  /** Name of that bucket. */
  readonly comparedLabel?: string | undefined;
};

export type TimeSeriesProps = {
  readonly title: string;
  readonly says: string;
  readonly points: readonly SeriesPoint[];
  readonly format: (value: Figure) => string;
  readonly formatTick: (value: number) => string;
  /** The last bucket has not ended, so its line is dotted. */
  readonly isLastOpen: boolean;
  /** What the line is, such as its range. */
  readonly name?: string | undefined;
  /** What the dashed line is. Without it there is none. */
  readonly comparedName?: string | undefined;
  /** Opens the rows of one bucket. */
  readonly onPick?: ((at: number) => void) | undefined;
  /** Opens the buckets that the pointer was dragged across. */
  readonly onRange?: ((first: number, last: number) => void) | undefined;
};

/**
 * One metric over time, with the compared period as a dashed line. Arrow keys move from point to point, Enter opens one; a drag opens a range.
 */
export function TimeSeries(props: TimeSeriesProps): ReactElement {
  const { title, says, points, format, name = title, comparedName } = props;
  const columns = ["Time", title, ...(comparedName === undefined ? [] : [comparedName])];
  const rows = points.map(({ label, value, compared }) => [
    label,
    format(value),
    ...(comparedName === undefined ? [] : [format(compared ?? null)]),
  ]);
  return (
    <PlotFrame title={title} says={says} table={{ columns, rows }}>
      {comparedName !== undefined && (
        <Legend
          entries={[
            { name, className: "series", colour: "var(--plot-1)" },
            { name: comparedName, className: "compared" },
          ]}
        />
      )}
      <SeriesLines {...props} />
    </PlotFrame>
  );
}

function SeriesLines({
  points,
  format,
  formatTick,
  isLastOpen,
  comparedName,
  title,
  onPick,
  onRange,
}: TimeSeriesProps): ReactElement {
  const { frame, width } = useWidth();
  const heights = points.flatMap(({ value, compared }) => [heightOf(value), heightOf(compared)]);
  const { x, y, ticks } = scalesOf({ count: points.length, heights, width });
  const last = points.length - 1;
  const { at, setAt, onKeyDown } = useCursor({ count: points.length, first: last, onPick });
  const under = (event: PointerEvent<SVGSVGElement>): number | undefined => {
    const left = event.clientX - event.currentTarget.getBoundingClientRect().left;
    return nearest(left, x, points.length);
  };
  const { range, press, release, leave } = useDrag({ at, onPick, onRange });
  const read = at === undefined ? undefined : points[at];
  return (
    <div className="plot" ref={frame}>
      <svg
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        className={onPick === undefined ? undefined : "opens"}
        aria-label={`${title}: ${points.length} points, arrow keys read them`}
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
        <Grid
          labels={points.map(({ label }) => label)}
          width={width}
          x={x}
          y={y}
          ticks={ticks}
          format={formatTick}
        />
        {comparedName !== undefined && (
          <path
            className="compared"
            d={pathOf(
              points.map(({ compared }) => heightOf(compared)),
              x,
              y,
            )}
          />
        )}
        <path
          className="series"
          stroke="var(--plot-1)"
          d={pathOf(
            points.slice(0, isLastOpen ? last : undefined).map(({ value }) => heightOf(value)),
            x,
            y,
          )}
        />
        {isLastOpen && last > 0 && <OpenEnd points={points} x={x} y={y} />}
        {at !== undefined && (
          <line className="cursor" x1={x(at)} x2={x(at)} y1={ROOM.top} y2={HEIGHT - ROOM.bottom} />
        )}
      </svg>
      {read !== undefined && at !== undefined && (
        <Reading at={x(at)} width={width}>
          <Values point={read} format={format} isCompared={comparedName !== undefined} />
        </Reading>
      )}
    </div>
  );
}

function Values({
  point: { label, value, compared = null, comparedLabel = "" },
  format,
  isCompared,
}: Pick<TimeSeriesProps, "format"> & {
  readonly point: SeriesPoint;
  readonly isCompared: boolean;
}): ReactElement {
  return (
    <>
      <div>
        {label}: <strong>{format(value)}</strong>
      </div>
      {isCompared && (
        <div className="muted">
          previous {comparedLabel}: {format(compared)}
        </div>
      )}
    </>
  );
}

function OpenEnd({
  points,
  x,
  y,
}: {
  readonly points: readonly SeriesPoint[];
  readonly x: Place;
  readonly y: Place;
}): ReactElement {
  const last = points.length - 1;
  const ends = points.map(({ value }, at) => (at < last - 1 ? undefined : heightOf(value)));
  return <path className="series unfinished" stroke="var(--plot-1)" d={pathOf(ends, x, y)} />;
}
