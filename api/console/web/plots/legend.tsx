import type { ReactElement } from "react";
import { StrangerText } from "../parts/stranger-text.tsx";

export type LegendEntry = {
  readonly name: string;
  /** Class and dashes of the line, so that it is found without its colour. */
  readonly className: string;
  readonly colour?: string | undefined;
  readonly dashes?: string | undefined;
};

const SIZE = { width: 28, height: 10 };

/** What the lines of a plot are, each with a piece of its line. */
export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }): ReactElement {
  return (
    <ul className="legend">
      {entries.map(({ name, className, colour, dashes }) => (
        <li key={name}>
          <svg {...SIZE} aria-hidden="true">
            <path
              className={className}
              stroke={colour}
              strokeDasharray={dashes}
              d={`M0,${SIZE.height / 2}H${SIZE.width}`}
            />
          </svg>
          <StrangerText text={name} />
        </li>
      ))}
    </ul>
  );
}
