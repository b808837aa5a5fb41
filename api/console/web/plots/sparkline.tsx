import { line } from "d3-shape";
import type { ReactElement } from "react";

export const SPARKLINE_SIZE = { width: 84, height: 22 };
const ROOM = 2;

/** The course of some days, without an axis. The label says what it shows. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly number[];
  readonly label: string;
}): ReactElement {
  const highest = Math.max(1, ...values);
  const step = (SPARKLINE_SIZE.width - 2 * ROOM) / Math.max(1, values.length - 1);
  const y = (value: number): number =>
    SPARKLINE_SIZE.height - ROOM - (value / highest) * (SPARKLINE_SIZE.height - 2 * ROOM);
  const path = line<number>()
    .x((_, at) => ROOM + at * step)
    .y(y)([...values]);
  const last = values.at(-1) ?? 0;
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${SPARKLINE_SIZE.width} ${SPARKLINE_SIZE.height}`}
      width={SPARKLINE_SIZE.width}
      height={SPARKLINE_SIZE.height}
      role="img"
      aria-label={label}
    >
      <path className="series" stroke="var(--plot-1)" d={path ?? ""} />
      <circle cx={SPARKLINE_SIZE.width - ROOM} cy={y(last)} r={2} fill="var(--plot-1)" />
    </svg>
  );
}
