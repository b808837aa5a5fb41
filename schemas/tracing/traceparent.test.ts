import { expect, test } from "vitest";
import { readTraceparent, writeTraceparent } from "./traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test("a traceparent is read as it was written", () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  const read = readTraceparent(text);
  expect(read).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 });
  expect(writeTraceparent({ traceId: TRACE, spanId: SPAN, flags: 1 })).toBe(text);
});

test.each([
  "",
  `01-${TRACE}-${SPAN}-01`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
])("%s is not a traceparent", (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});
