import type { ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { StrangerText } from "../parts/stranger-text.tsx";
import { PlotFrame } from "./as-table.tsx";
import { Legend, type LegendEntry } from "./legend.tsx";
import { heightOf } from "./pixels.ts";
import { SeriesFrame } from "./series-frame.tsx";
import { pathOf } from "./series-grid.tsx";

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

function Drawing(props: SplitSeriesProps): ReactElement {
  const { title, buckets, lines, format } = props;
  return (
    <SeriesFrame
      {...props}
      says={`${title}: ${lines.length} lines of ${buckets.length} points, arrow keys read them`}
      labels={buckets}
      heights={lines.flatMap(({ values }) => values.map(heightOf))}
      reading={(at) => (
        <>
          <strong>{buckets[at]}</strong>
          {lines.map(({ name, values }) => (
            <div key={name}>
              <StrangerText text={name} />: {format(values[at] ?? null)}
            </div>
          ))}
        </>
      )}
    >
      {(x, y) =>
        lines.map((one, index) => (
          <Line
            key={one.name}
            entry={entryOf(one, index)}
            d={pathOf(one.values.map(heightOf), x, y)}
          />
        ))
      }
    </SeriesFrame>
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
