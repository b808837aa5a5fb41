import { scaleLinear, scalePoint } from "d3-scale";
import { line } from "d3-shape";
import type { ReactElement } from "react";
import { axisOf } from "./pixels.ts";

export const HEIGHT = 240;
export const ROOM = { top: 10, right: 12, bottom: 24, left: 60 };
const LABEL_WIDTH = 84;

export type Place = (at: number) => number;

/** Lines of round values, and names of buckets. */
export function Grid({
  labels,
  width,
  x,
  y,
  ticks,
  format,
}: {
  readonly labels: readonly string[];
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
      {labelled(labels.length, width).map((index) => (
        <text key={index} x={x(index)} y={HEIGHT - 6} textAnchor="middle">
          {labels[index]}
        </text>
      ))}
    </>
  );
}

/** Places of buckets and of values in a plot of lines. */
export function scalesOf({
  count,
  heights,
  width,
}: {
  readonly count: number;
  readonly heights: readonly (number | undefined)[];
  readonly width: number;
}): { x: Place; y: Place; ticks: number[] } {
  const { min, max, ticks } = axisOf(heights.filter((height) => height !== undefined));
  const along = scalePoint<number>(
    Array.from({ length: count }, (_, index) => index),
    [ROOM.left, width - ROOM.right],
  );
  const up = scaleLinear([min, max], [HEIGHT - ROOM.bottom, ROOM.top]);
  return { x: (index) => along(index) ?? ROOM.left, y: (value) => up(value), ticks };
}

export function pathOf(values: readonly (number | undefined)[], x: Place, y: Place): string {
  const draw = line<number | undefined>()
    .defined((value) => value !== undefined)
    .x((_, index) => x(index))
    .y((value) => y(value ?? 0));
  return draw(values) ?? "";
}

/** Which points get a label, so that none overlaps. */
function labelled(count: number, width: number): number[] {
  const room = Math.max(1, Math.floor((width - ROOM.left - ROOM.right) / LABEL_WIDTH));
  const step = Math.max(1, Math.ceil(count / room));
  return Array.from({ length: count }, (_, index) => index).filter((index) => index % step === 0);
}

/** The point that is nearest to a place. */
export function nearest(left: number, x: Place, count: number): number | undefined {
  if (count === 0) return undefined;
  const step = count === 1 ? 1 : x(1) - x(0);
  return Math.min(count - 1, Math.max(0, Math.round((left - x(0)) / step)));
}
