import { scaleLinear, scalePoint } from "d3-scale";
import { line } from "d3-shape";
import type { PointerEvent, ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { PlotFrame } from "./as-table.tsx";
import { axisOf, heightOf } from "./pixels.ts";
import { Reading } from "./reading.tsx";
import { useCursor } from "./use-cursor.ts";
import { useDrag } from "./use-drag.ts";
import { useWidth } from "./use-width.ts";

export type SeriesPoint = {
  /** Name of the bucket, such as "Nov 25". */
  readonly label: string;
  readonly value: Figure;
  /** Value of the same bucket in the compared period. */
  readonly compared?: Figure | undefined;
};

export type TimeSeriesProps = {
  readonly title: string;
  readonly says: string;
  readonly points: readonly SeriesPoint[];
  readonly format: (value: Figure) => string;
  readonly formatTick: (value: number) => string;
  /** The last bucket has not ended, so its line is dotted. */
  readonly isLastOpen: boolean;
  readonly comparedName?: string | undefined;
  /** Opens the rows of one bucket. */
  readonly onPick?: ((at: number) => void) | undefined;
  /** Opens the buckets that the pointer was dragged across. */
  readonly onRange?: ((first: number, last: number) => void) | undefined;
};

const HEIGHT = 240;
const ROOM = { top: 10, right: 12, bottom: 24, left: 60 };
const LABEL_WIDTH = 84;

/**
 * One metric over time, with the compared period as a dashed line. Arrow keys move from point to point, Enter opens one; a drag opens a range.
 */
export function TimeSeries(props: TimeSeriesProps): ReactElement {
  const { title, says, points, format, comparedName } = props;
  const columns = ["Time", title, ...(comparedName === undefined ? [] : [comparedName])];
  const rows = points.map(({ label, value, compared }) => [
    label,
    format(value),
    ...(comparedName === undefined ? [] : [format(compared ?? null)]),
  ]);
  return (
    <PlotFrame title={title} says={says} table={{ columns, rows }}>
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
  const { x, y, ticks } = scalesOf(points, width);
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
        <Grid points={points} width={width} x={x} y={y} ticks={ticks} format={formatTick} />
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
          <Values point={read} format={format} comparedName={comparedName} />
        </Reading>
      )}
    </div>
  );
}

type Place = (at: number) => number;

function Values({
  point: { label, value, compared = null },
  format,
  comparedName,
}: Pick<TimeSeriesProps, "format" | "comparedName"> & {
  readonly point: SeriesPoint;
}): ReactElement {
  return (
    <>
      <strong>{label}</strong>
      <div>{format(value)}</div>
      {comparedName !== undefined && (
        <div className="muted">
          {comparedName}: {format(compared)}
        </div>
      )}
    </>
  );
}

/** Lines of round values, and names of buckets. */
function Grid({
  points,
  width,
  x,
  y,
  ticks,
  format,
}: {
  readonly points: readonly SeriesPoint[];
  readonly width: number;
  readonly x: Place;
  readonly y: Place;
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
}): ReactElement {
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line className="grid" x1={ROOM.left} x2={width - ROOM.right} y1={y(tick)} y2={y(tick)} />
          <text x={ROOM.left - 8} y={y(tick) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labelled(points, width).map((index) => (
        <text key={index} x={x(index)} y={HEIGHT - 6} textAnchor="middle">
          {points[index]?.label}
        </text>
      ))}
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

function scalesOf(
  points: readonly SeriesPoint[],
  width: number,
): { x: Place; y: Place; ticks: number[] } {
  const heights = points.flatMap(({ value, compared }) =>
    [heightOf(value) ?? [], heightOf(compared) ?? []].flat(),
  );
  const { min, max, ticks } = axisOf(heights);
  const along = scalePoint<number>(
    points.map((_, index) => index),
    [ROOM.left, width - ROOM.right],
  );
  const up = scaleLinear([min, max], [HEIGHT - ROOM.bottom, ROOM.top]);
  return { x: (index) => along(index) ?? ROOM.left, y: (value) => up(value), ticks };
}

function pathOf(values: readonly (number | undefined)[], x: Place, y: Place): string {
  const draw = line<number | undefined>()
    .defined((value) => value !== undefined)
    .x((_, index) => x(index))
    .y((value) => y(value ?? 0));
  return draw(values) ?? "";
}

/** Which points get a label, so that none overlaps. */
function labelled(points: readonly SeriesPoint[], width: number): number[] {
  const room = Math.max(1, Math.floor((width - ROOM.left - ROOM.right) / LABEL_WIDTH));
  const step = Math.max(1, Math.ceil(points.length / room));
  return points.map((_, index) => index).filter((index) => index % step === 0);
}

function nearest(left: number, x: Place, count: number): number | undefined {
  if (count === 0) return undefined;
  const step = count === 1 ? 1 : x(1) - x(0);
  return Math.min(count - 1, Math.max(0, Math.round((left - x(0)) / step)));
}
