import { useState } from "react";

type Range = readonly [first: number, last: number];

type Drag = {
  /** The points that are chosen while the pointer is down. */
  readonly range: Range | undefined;
  readonly press: (at: number | undefined) => void;
  readonly release: () => void;
  readonly leave: () => void;
};

/** What a pointer chooses: a press opens the point under it, a drag across several points their range. */
export function useDrag({
  at,
  onPick,
  onRange,
}: {
  /** The point under the pointer. */
  readonly at: number | undefined;
  readonly onPick: ((at: number) => void) | undefined;
  readonly onRange: ((first: number, last: number) => void) | undefined;
}): Drag {
  const [start, setStart] = useState<number>();
  const range: Range | undefined =
    start === undefined || at === undefined || start === at || onRange === undefined
      ? undefined
      : [Math.min(start, at), Math.max(start, at)];
  const leave = (): void => setStart(undefined);
  const choose = (): void => {
    leave();
    if (start === undefined || at === undefined) return;
    if (range === undefined) onPick?.(at);
    else onRange?.(...range);
  };
  return { range, press: setStart, release: choose, leave };
}
