import { expect, test } from "vitest";
import { htmlPixelAnswer } from "./html-pixel.ts";

const page = (documents: readonly string[]): string =>
  Buffer.from(htmlPixelAnswer("approved", documents).body).toString();

test("the iframe pixel is a page with the outcome in the header, and is never kept (PX-004, PX-013)", () => {
  const { status, headers } = htmlPixelAnswer("rejected; duplicate", []);
  expect(status).toBe(200);
  expect(headers).toContainEqual(["Content-Type", "text/html; charset=utf-8"]);
  expect(headers).toContainEqual(["Cache-Control", "no-store"]);
  expect(headers).toContainEqual(["X-Tracker-Conversion", "rejected; duplicate"]);
  // Without the origin of the tracking domain, also when it is opened as a page of its own.
  expect(headers).toContainEqual(["Content-Security-Policy", "sandbox allow-scripts"]);
});

test("each document is in a frame of its own that it cannot leave", () => {
  const hostile = "\"></iframe><script>alert(1)</script><!-- &quot;' <textarea>";
  const [before = "", first = "", second = "", ...more] = page([hostile, "<b>b</b>"]).split(
    '<iframe sandbox="allow-scripts" srcdoc=',
  );
  expect(more).toEqual([]);
  expect(before).toBe('<!doctype html><meta charset="utf-8"><title></title>');
  expect(first).toMatch(/^"[^"<>]*"><\/iframe>$/);
  expect(first).not.toContain("&quot;");
  expect(second).toBe('"&#60;b&#62;b&#60;/b&#62;"></iframe>\n');
});
