import type { ReactElement } from "react";
import type { Figure } from "../format/figure.ts";
import { StrangerText } from "../parts/stranger-text.tsx";
import { PlotFrame } from "./as-table.tsx";
import { heightOf } from "./pixels.ts";
import { useCursor } from "./use-cursor.ts";

export type Bar = { readonly key: string; readonly label: string; readonly value: Figure };

export type BarsProps = {
  readonly title: string;
  readonly says: string;
  /** What a bar stands for, such as "Offer". */
  readonly heading: string;
  readonly valueHeading: string;
  readonly bars: readonly Bar[];
  readonly format: (value: Figure) => string;
  readonly onPick?: ((key: string) => void) | undefined;
};

const WHOLE = 100;

/** One bar for each value, as long as its share of the largest. Arrow keys move up and down, Enter opens one. */
export function Bars(props: BarsProps): ReactElement {
  const { title, says, heading, valueHeading, bars, format } = props;
  const rows = bars.map(({ label, value }) => [label, format(value)]);
  return (
    <PlotFrame title={title} says={says} table={{ columns: [heading, valueHeading], rows }}>
      <BarList {...props} />
    </PlotFrame>
  );
}

function BarList({ title, bars, format, onPick }: BarsProps): ReactElement {
  const { at, setAt, onKeyDown } = useCursor({
    count: bars.length,
    columns: 1,
    onPick: (index) => {
      const bar = bars[index];
      if (bar !== undefined) onPick?.(bar.key);
    },
  });
  const largest = Math.max(0, ...bars.map(({ value }) => heightOf(value) ?? 0));
  return (
    <div
      className={onPick === undefined ? "bars" : "bars opens"}
      role="group"
      aria-label={`${title}: ${bars.length} bars, arrow keys read them`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerLeave={() => setAt(undefined)}
    >
      {bars.map(({ key, label, value }, index) => (
        <div key={key} className={at === index ? "bar is-read" : "bar"}>
          <BarName label={label} onPick={onPick === undefined ? undefined : () => onPick(key)} />
          <svg viewBox={`0 0 ${WHOLE} 1`} preserveAspectRatio="none" aria-hidden="true">
            <rect
              width={shareOf(value, largest)}
              height="1"
              fill="var(--plot-1)"
              onPointerEnter={() => setAt(index)}
              onClick={() => onPick?.(key)}
            />
          </svg>
          <span className="value">{format(value)}</span>
        </div>
      ))}
      <span className="unseen" aria-live="polite">
        {at !== undefined && `${bars[at]?.label ?? ""}: ${format(bars[at]?.value ?? null)}`}
      </span>
    </div>
  );
}

/** The keys of the list open a bar, so its button is no further stop. */
function BarName({
  label,
  onPick,
}: {
  readonly label: string;
  readonly onPick: (() => void) | undefined;
}): ReactElement {
  if (onPick === undefined) {
    return (
      <span className="label" title={label}>
        <StrangerText text={label} />
      </span>
    );
  }
  return (
    <button
      type="button"
      className="cell-button label"
      title={label}
      tabIndex={-1}
      onClick={onPick}
    >
      <StrangerText text={label} />
    </button>
  );
}

function shareOf(value: Figure, largest: number): number {
  const height = heightOf(value) ?? 0;
  return largest > 0 ? Math.max(0, Math.min(WHOLE, (height / largest) * WHOLE)) : 0;
}
