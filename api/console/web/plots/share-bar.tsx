import type { ReactElement, ReactNode } from "react";
import type { Figure } from "../format/figure.ts";
import { heightOf } from "./pixels.ts";

const WHOLE = 100;

/** A value with a bar behind it, as long as its share of the largest. */
export function ShareBar({
  value,
  largest,
  children,
}: {
  readonly value: Figure;
  readonly largest: number;
  readonly children: ReactNode;
}): ReactElement {
  const share = largest > 0 ? Math.max(0, Math.min(1, (heightOf(value) ?? 0) / largest)) : 0;
  return (
    <div className="bar-cell">
      <svg viewBox={`0 0 ${WHOLE} 1`} preserveAspectRatio="none" aria-hidden="true">
        <rect
          x={WHOLE - share * WHOLE}
          width={share * WHOLE}
          height="1"
          fill="var(--accent-soft)"
        />
      </svg>
      <span className="value">{children}</span>
    </div>
  );
}
