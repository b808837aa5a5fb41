import type { ReactElement } from "react";
import { useRoleFigures } from "../figures/role-figures.ts";
import { formatFraction } from "../format/figure.ts";

/** Smaller changes would be written as 0%. */
const SHOWN_MIN = 0.0005;

/** A change against the other period, with an arrow and for screen readers a word, never by colour alone. */
export function Change({
  metric,
  change,
}: {
  readonly metric: string;
  readonly change: number | null | undefined;
}): ReactElement | null {
  const { costs } = useRoleFigures();
  if (change === null || change === undefined) return null;
  if (Math.abs(change) < SHOWN_MIN) return <span className="change">no change</span>;
  const isGood = costs.has(metric) ? change < 0 : change > 0;
  return (
    <span className={isGood ? "change good" : "change bad"}>
      <span aria-hidden="true">{change > 0 ? "▲" : "▼"}</span>
      <span className="unseen">{change > 0 ? "up" : "down"}</span>{" "}
      {formatFraction(Math.abs(change), 1)}
    </span>
  );
}
