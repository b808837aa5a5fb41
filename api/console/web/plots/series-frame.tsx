import type { PointerEvent, ReactElement, ReactNode } from "react";
import { Reading } from "./reading.tsx";
import { Grid, HEIGHT, nearest, type Place, ROOM, scalesOf } from "./series-grid.tsx";
import { useCursor } from "./use-cursor.ts";
import { useDrag } from "./use-drag.ts";
import { useWidth } from "./use-width.ts";

type SeriesFrameProps = {
  /** Names the drawing, and how much there is to read. */
  readonly says: string;
  /** Names of the buckets. */
  readonly labels: readonly string[];
  /** All values that must fit. */
  readonly heights: readonly (number | undefined)[];
  readonly formatTick: (value: number) => string;
  readonly onPick?: ((at: number) => void) | undefined;
  readonly onRange?: ((first: number, last: number) => void) | undefined;
  /** The lines. */
  readonly children: (x: Place, y: Place) => ReactNode;
  /** What the bucket under the cursor says. */
  readonly reading: (at: number) => ReactNode;
};

/** Axes, cursor and drag of a plot of lines over time. */
export function SeriesFrame(props: SeriesFrameProps): ReactElement {
  const { says, labels, heights, formatTick, onPick, onRange, children, reading } = props;
  const { frame, width } = useWidth();
  const count = labels.length;
  const { x, y, ticks } = scalesOf({ count, heights, width });
  const { at, setAt, onKeyDown } = useCursor({ count, first: count - 1, onPick });
  const under = (event: PointerEvent<SVGSVGElement>): number | undefined =>
    nearest(event.clientX - event.currentTarget.getBoundingClientRect().left, x, count);
  const { range, press, release, leave } = useDrag({ at, onPick, onRange });
  return (
    <div className="plot" ref={frame}>
      <svg
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        className={onPick === undefined ? undefined : "opens"}
        aria-label={says}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerMove={(event) => setAt(under(event))}
        onPointerLeave={() => setAt(undefined)}
        onPointerDown={(event) => {
          setAt(under(event));
          press(under(event));
        }}
        onPointerUp={(event) => release(under(event))}
        onPointerCancel={leave}
      >
        {range !== undefined && (
          <rect
            className="band"
            x={x(range[0])}
            width={x(range[1]) - x(range[0])}
            y={ROOM.top}
            height={HEIGHT - ROOM.top - ROOM.bottom}
          />
        )}
        <Grid {...{ labels, width, x, y, ticks }} format={formatTick} />
        {children(x, y)}
        {at !== undefined && (
          <line className="cursor" x1={x(at)} x2={x(at)} y1={ROOM.top} y2={HEIGHT - ROOM.bottom} />
        )}
      </svg>
      {at !== undefined && at < count && (
        <Reading at={x(at)} width={width}>
          {reading(at)}
        </Reading>
      )}
    </div>
  );
}
