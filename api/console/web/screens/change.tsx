import type { ReactElement } from "react";
import { useRoleFigures } from "../figures/role-figures.ts";
import { formatChange } from "../format/figure.ts";

/** A change against the other period, with sign and word, never by colour alone. */
export function Change({
  metric,
  change,
}: {
  readonly metric: string;
  readonly change: number | null | undefined;
}): ReactElement | null {
  const { costs } = useRoleFigures();
  if (change === null || change === undefined) return null;
  const isGood = costs.has(metric) ? change <= 0 : change >= 0;
  return <span className={isGood ? "change good" : "change bad"}>{formatChange(change)}</span>;
}
