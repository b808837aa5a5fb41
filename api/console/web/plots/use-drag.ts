import { useState } from "react";

type Range = readonly [first: number, last: number];

type Drag = {
  /** The points that are chosen while the pointer is down. */
  readonly range: Range | undefined;
  readonly press: (at: number | undefined) => void;
  readonly release: (at: number | undefined) => void;
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
  const rangeTo = (end: number | undefined): Range | undefined =>
    start === undefined || end === undefined || start === end || onRange === undefined
      ? undefined
      : [Math.min(start, end), Math.max(start, end)];
  const leave = (): void => setStart(undefined);
  // `at` may be older than the release: the last moves of a quick hand are drawn only after it.
  const release = (end: number | undefined): void => {
    leave();
    if (start === undefined || end === undefined) return;
    const range = rangeTo(end);
    if (range === undefined) onPick?.(end);
    else onRange?.(...range);
  };
  return { range: rangeTo(at), press: setStart, release, leave };
}
