import type { ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { PlotFrame } from "./as-table.tsx";
import { Legend } from "./legend.tsx";
import { heightOf } from "./pixels.ts";
import { SeriesFrame } from "./series-frame.tsx";
import { type Place, pathOf } from "./series-grid.tsx";

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

function SeriesLines(props: TimeSeriesProps): ReactElement {
  const { points, format, isLastOpen, comparedName, title } = props;
  const last = points.length - 1;
  return (
    <SeriesFrame
      {...props}
      says={`${title}: ${points.length} points, arrow keys read them`}
      labels={points.map(({ label }) => label)}
      heights={points.flatMap(({ value, compared }) => [heightOf(value), heightOf(compared)])}
      reading={(at) => {
        const point = points[at];
        return (
          point !== undefined && (
            <Values point={point} format={format} isCompared={comparedName !== undefined} />
          )
        );
      }}
    >
      {(x, y) => (
        <>
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
        </>
      )}
    </SeriesFrame>
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
