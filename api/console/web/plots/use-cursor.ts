import { type KeyboardEvent, useState } from "react";
import { keyTarget } from "./point-keys.ts";

export type Cursor = {
  /** The point that is read at the moment. */
  readonly at: number | undefined;
  readonly setAt: (at: number | undefined) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

/** Moves from point to point with the arrow keys. Enter opens the point, Escape puts it away. */
export function useCursor({
  count,
  columns = 0,
  first = 0,
  onPick,
}: {
  readonly count: number;
  /** Points in a row, if there are rows. */
  readonly columns?: number;
  /** Where the keys begin. */
  readonly first?: number;
  readonly onPick?: ((at: number) => void) | undefined;
}): Cursor {
  const [at, setAt] = useState<number>();
  const onKeyDown = (event: KeyboardEvent): void => {
    if (count === 0) return;
    if (event.key === "Enter" && at !== undefined) onPick?.(at);
    if (event.key === "Escape") setAt(undefined);
    const to = keyTarget(event.key, at ?? first, { count, columns });
    if (to === undefined) return;
    event.preventDefault();
    // The first key shows where the reader stands.
    setAt(at === undefined ? first : to);
  };
  return { at: at !== undefined && at < count ? at : undefined, setAt, onKeyDown };
}
