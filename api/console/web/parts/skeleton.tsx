import { type ReactElement, useEffect, useState } from "react";

/** Shorter waits show nothing, because a flash disturbs more. */
const SHOWN_AFTER_MS = 150;

/** Stands in for content of a known height while it is loaded. */
export function Skeleton({
  height,
  width = "100%",
}: {
  readonly height: number;
  readonly width?: number | string;
}): ReactElement {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div
      className={isShown ? "skeleton" : undefined}
      style={{ height, width }}
      role="status"
      aria-label="Loading"
    />
  );
}
