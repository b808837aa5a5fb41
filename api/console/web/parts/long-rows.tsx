import { useVirtualizer } from "@tanstack/react-virtual";
import type { ReactElement, RefObject } from "react";

const ROW_HEIGHT = 38;
/** Rows drawn above and below the view, so that the keys find the next row. */
const OVERSCAN = 20;

/** What a row needs so that its height and its place are known. */
export type LongRowProps = {
  readonly ref: (row: HTMLTableRowElement | null) => void;
  readonly "data-index": number;
  readonly "aria-rowindex": number;
};

/** The rows of a long table that are in view, between two empty ones as high as all others. The frame scrolls. */
export function LongRows({
  frame,
  count,
  row,
}: {
  readonly frame: RefObject<HTMLElement | null>;
  readonly count: number;
  readonly row: (at: number, more: LongRowProps) => ReactElement | null;
}): ReactElement {
  // oxlint-disable-next-line react/incompatible-library -- the rule is for the React Compiler, which this build does not use
  const rows = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const drawn = rows.getVirtualItems();
  const above = drawn[0]?.start ?? 0;
  const below = rows.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  return (
    <>
      <tr className="spacer" aria-hidden style={{ height: above }} />
      {drawn.map(({ index }) =>
        row(index, {
          ref: rows.measureElement,
          "data-index": index,
          // The header is row 1.
          "aria-rowindex": index + 2,
        }),
      )}
      <tr className="spacer" aria-hidden style={{ height: below }} />
    </>
  );
}
