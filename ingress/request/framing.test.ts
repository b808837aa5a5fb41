import { expect, test } from "vitest";
import { type FramedRequest, framingFault } from "./framing.ts";

function framed(headers: readonly (readonly [string, string])[]): FramedRequest {
  return {
    getHeader: (name) => headers.find(([own]) => own === name)?.[1] ?? "",
    forEach: (each) => {
      for (const [name, value] of headers) each(name, value);
    },
  };
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
] as const)("P28 %j, chunks taken %s: %s", (headers, mayBeChunked, fault) => {
  expect(framingFault(framed(headers), { mayHaveBody: true, mayBeChunked })).toBe(fault);
});
