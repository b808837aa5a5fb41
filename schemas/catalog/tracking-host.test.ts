import { expect, test } from "vitest";
import { canonicalHost } from "./tracking-host.ts";

test.each([
  ["go.example", "go.example"],
  ["GO.Example", "go.example"],
  ["go.example.", "go.example"],
  ["go.example:443", "go.example"],
  ["go.example:80", "go.example"],
  ["Go.Example.:443", "go.example"],
  ["go.example:8443", "go.example:8443"],
  ["go.example.:8443", "go.example:8443"],
  ["go.example:4430", "go.example:4430"],
  ["[::1]:8080", "[::1]:8080"],
  ["[::1]:80", "[::1]"],
  ["", ""],
])("spellings of one host are equal: %s (#13, G200)", (written, host) => {
  expect(canonicalHost(written)).toBe(host);
});
