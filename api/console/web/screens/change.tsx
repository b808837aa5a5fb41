import type { ReactElement } from "react";
import { formatChange } from "../format/figure.ts";

/** Metrics that are better when they are smaller. */
const COSTS = new Set(["payout", "ad_cost", "bot_clicks", "rejected", "cost"]);

/** A change against the other period, with sign and word, never by colour alone. */
export function Change({
  metric,
  change,
}: {
  readonly metric: string;
  readonly change: number | null | undefined;
}): ReactElement | null {
  if (change === null || change === undefined) return null;
  const isGood = COSTS.has(metric) ? change <= 0 : change >= 0;
  return <span className={isGood ? "change good" : "change bad"}>{formatChange(change)}</span>;
}
