import { expect, test } from "vitest";
import { acceptsHtml, prefersHtml, prefersJson } from "./prefers-html.ts";

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

test.each([
  ["", true],
  ["*/*", true],
  ["text/*;q=0.1", true],
  ["text/html,*/*;q=0.8", true],
  ["application/json, text/plain, */*", true],
  ["text/html;q=0, */*", false],
  ["*/*;q=0", false],
  ["application/json", false],
  ["image/avif,image/webp", false],
])("Accept: %s takes a page: %s", (accept, takesPage) => {
  expect(acceptsHtml(accept)).toBe(takesPage);
});

test.each([
  ["application/json", true],
  ["application/json, text/plain, */*", true],
  ["application/json, text/html", true],
  ["text/html, application/json;q=0.9", false],
  ["application/json;q=0", false],
  ["*/*", false],
  ["", false],
])("Accept: %s asks for JSON: %s", (accept, isJson) => {
  expect(prefersJson(accept)).toBe(isJson);
});
