import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { axisOf, heightOf } from "./pixels.ts";

const WIDTH = 84;
const HEIGHT = 22;

/** The course of one metric within a table row. `says` is read instead of the line. */
export function Sparkline({
  values,
  says,
}: {
  readonly values: readonly Figure[];
  readonly says: string;
}): ReactElement {
  const heights = values.map((value) => heightOf(value) ?? 0);
  const { min, max } = axisOf(heights);
  const x = scaleLinear([0, Math.max(1, heights.length - 1)], [1, WIDTH - 1]);
  const y = scaleLinear([min, max], [HEIGHT - 2, 2]);
  const draw = line<number>()
    .x((_, at) => x(at))
    .y((value) => y(value));
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={says}>
      <path d={draw(heights) ?? ""} fill="none" stroke="var(--plot-1)" strokeWidth={1.5} />
    </svg>
  );
}
