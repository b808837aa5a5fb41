import { expect, test } from "vitest";
import { framingFault } from "./framing.ts";
import { type RequestHead, readHead } from "./request-head.ts";

function headOf(headers: readonly (readonly [string, string])[]): RequestHead {
  return readHead({
    forEach: (each) => {
      for (const [name, value] of headers) each(name, value);
    },
  });
}

test.each([
  [[], true, undefined],
  [[["content-length", "5"]], true, undefined],
  [[["content-length", "5"]], false, undefined],
  [[["transfer-encoding", "chunked"]], true, undefined],
  [[["transfer-encoding", "Chunked"]], true, undefined],
  [[["transfer-encoding", "chunked"]], false, "length_required"],
  [[["transfer-encoding", "xchunked"]], true, "ambiguous"],
  [[["transfer-encoding", "gzip, chunked"]], true, "ambiguous"],
  [[["transfer-encoding", "identity"]], true, "ambiguous"],
  [
    [
      ["transfer-encoding", "chunked"],
      ["transfer-encoding", "chunked"],
    ],
    true,
    "ambiguous",
  ],
  [
    [
      ["content-length", "5"],
      ["content-length", "6"],
    ],
    true,
    "ambiguous",
  ],
  [
    [
      ["content-length", "5"],
      ["content-length", "5"],
    ],
    false,
    "ambiguous",
  ],
  [
    [
      ["transfer-encoding", "chunked"],
      ["content-length", ""],
    ],
    true,
    "ambiguous",
  ],
  [[["content-length", ""]], true, "ambiguous"],
  [[["transfer-encoding", ""]], true, "ambiguous"],
] as const)("%j, chunks taken %s: %s (P28)", (headers, mayBeChunked, fault) => {
  expect(framingFault(headOf(headers), mayBeChunked)).toBe(fault);
});
