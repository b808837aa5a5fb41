import type { ReactElement, ReactNode } from "react";

const GAP = 12;

/** The figures of one point, beside it. Screen readers read it when it changes. */
export function Reading({
  at,
  top = 0,
  width,
  children,
}: {
  /** Distance of the point from the left end of the plot in pixels. */
  readonly at: number;
  readonly top?: number;
  readonly width: number;
  readonly children: ReactNode;
}): ReactElement {
  const side = at > width / 2 ? { right: width - at + GAP } : { left: at + GAP };
  return (
    <div className="reading" aria-live="polite" style={{ top, ...side }}>
      {children}
    </div>
  );
}
