import type { ReactElement } from "react";
import { Link } from "wouter";
import { formatCount, formatFraction } from "../format/figure.ts";
import { PlotFrame } from "./as-table.tsx";

export type FunnelStep = {
  readonly name: string;
  readonly count: number;
  /** Opens the list of what the step counts. */
  readonly href?: string | undefined;
};

/** How many are left after each step, each bar as a share of the first. */
export function Funnel({
  title,
  steps,
}: {
  readonly title: string;
  readonly steps: readonly FunnelStep[];
}): ReactElement {
  const first = steps[0]?.count ?? 0;
  const share = (count: number): number => (first > 0 ? Math.min(1, count / first) : 0);
  const rows = steps.map(({ name, count }) => [
    name,
    formatCount(count),
    formatFraction(share(count)),
  ]);
  return (
    <PlotFrame
      title={title}
      says="Each step as a share of the first"
      table={{ columns: ["Step", "Count", "Of first"], rows }}
    >
      <ol className="funnel">
        {steps.map(({ name, count, href }) => (
          <li key={name}>
            <div className="row">
              <span className="grow">{name}</span>
              <strong>
                {href === undefined ? (
                  formatCount(count)
                ) : (
                  <Link className="cell-link" href={href}>
                    {formatCount(count)}
                  </Link>
                )}
              </strong>
              <span className="muted">{formatFraction(share(count))}</span>
            </div>
            <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
              <rect className="meter-track" width="100" height="6" rx="1" />
              <rect width={share(count) * 100} height="6" rx="1" fill="var(--plot-1)" />
            </svg>
          </li>
        ))}
      </ol>
    </PlotFrame>
  );
}
