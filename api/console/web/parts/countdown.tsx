import { type ReactElement, useEffect, useRef, useState } from "react";

const SECOND_MS = 1_000;

/** Counts down to when the same may be asked again, and then asks once. */
export function Countdown({
  seconds,
  onEnd,
}: {
  readonly seconds: number;
  /** Undefined where only the person can repeat it. */
  readonly onEnd: (() => void) | undefined;
}): ReactElement {
  const [left, setLeft] = useState(seconds);
  const end = useRef(onEnd);
  useEffect(() => {
    end.current = onEnd;
  }, [onEnd]);
  useEffect(() => {
    const timer = setTimeout(() => {
      setLeft((before) => before - 1);
      if (left === 1) end.current?.();
    }, SECOND_MS);
    if (left <= 0) clearTimeout(timer);
    return () => clearTimeout(timer);
  }, [left]);
  if (left <= 0) return <p>It can be tried again now.</p>;
  // Not a live region: a screen reader would say every second.
  return <p aria-live="off">It can be tried again in {left} s.</p>;
}
