import { expect, test } from "vitest";
import { type RequestHead, readHead } from "./request-head.ts";
import { isUnseenRequest } from "./unseen-request.ts";

function headOf(lines: readonly (readonly [string, string])[]): RequestHead {
  return readHead({
    forEach: (each) => {
      for (const [name, value] of lines) each(name, value);
    },
  });
}

test.each([
  [[["sec-purpose", "prefetch;prerender"]], true],
  [[["purpose", "prefetch"]], true],
  [[["x-moz", "prefetch"]], true],
  [[["x-purpose", "preview"]], true],
  [
    [
      ["purpose", "other"],
      ["sec-purpose", "prefetch"],
    ],
    true,
  ],
  [[["sec-fetch-dest", "image"]], true],
  [[["sec-fetch-dest", "document"]], false],
  [[], false],
] as const)("%j: nobody sees the answer: %s (G240)", (lines, isUnseen) => {
  expect(isUnseenRequest(headOf(lines))).toBe(isUnseen);
});
