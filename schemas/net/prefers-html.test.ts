import { expect, test } from "vitest";
import { prefersHtml } from "./prefers-html.ts";

test.each([
  ["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true],
  ["text/html, */*;q=0.1", true],
  ["application/json;q=0.5, text/html", true],
  ["", false],
  ["*/*", false],
  ["application/json", false],
  ["application/json, text/html", false],
  ["application/json, text/html;q=0.9", false],
  ["text/html;q=0", false],
  ["text/html;q=x", false],
  ["image/avif,image/webp,*/*;q=0.8", false],
])("Accept: %s asks for a page: %s", (accept, isPage) => {
  expect(prefersHtml(accept)).toBe(isPage);
});
