import type { Figure } from "../format/figure.ts";

/** The only place where money becomes a float: the height of a mark on a screen. Undefined where there is nothing to draw. */
export function heightOf(value: Figure | undefined): number | undefined {
  if (value === null || value === undefined) return undefined;
  const height = Number(value);
  return Number.isFinite(height) ? height : undefined;
}

/** Round upper end of an axis and its ticks. */
export function axisOf(values: readonly number[]): {
  readonly min: number;
  readonly max: number;
  readonly ticks: number[];
} {
  const highest = Math.max(0, ...values);
  const lowest = Math.min(0, ...values);
  const step = niceStep((highest - lowest) / TICKS || 1);
  const min = Math.floor(lowest / step) * step;
  const max = Math.max(Math.ceil(highest / step) * step, min + step);
  const count = Math.round((max - min) / step);
  return { min, max, ticks: Array.from({ length: count + 1 }, (_, at) => min + at * step) };
}

const TICKS = 4;
const NICE = [1, 2, 2.5, 5, 10];

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = NICE.find((factor) => factor * power >= rough) ?? 10;
  return nice * power;
}
