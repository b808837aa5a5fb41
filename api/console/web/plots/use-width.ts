import { type RefObject, useEffect, useRef, useState } from "react";

const BEFORE_IT_IS_MEASURED = 640;

/** The width of an element in pixels, which a plot is drawn for. */
export function useWidth(): {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly width: number;
} {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(BEFORE_IT_IS_MEASURED);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(1, Math.round(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { frame, width };
}
