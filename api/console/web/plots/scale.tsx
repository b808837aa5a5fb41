import type { ReactElement } from "react";
import { SHADES } from "./shade.ts";

const SIZE = 14;

/** What the shades mean. */
export function Scale(): ReactElement {
  return (
    <p className="plot-scale" aria-hidden="true">
      less
      <svg width={SHADES.length * SIZE} height={SIZE}>
        {SHADES.map((shade, at) => (
          <rect
            key={shade}
            x={at * SIZE}
            width={SIZE - 2}
            height={SIZE}
            rx={3}
            fill="var(--plot-1)"
            fillOpacity={shade}
          />
        ))}
      </svg>
      more
    </p>
  );
}
