import fc from "fast-check";
import { expect, test } from "vitest";
import { Cursors } from "./cursor.ts";
import { ApiError } from "./errors.ts";
import type { Principal } from "./principal.ts";

const cursors = new Cursors("00".repeat(32));
const principal: Principal = {
  actor: { kind: "key", id: 1, name: "" },
  role: "admin",
  permissions: [],
  workspace: { id: 3, slug: "w", name: "W", brand_name: "", timezone: "UTC", currency: "USD" },
  affiliate: null,
  advertiser: null,
};
const binding = { list: "listOffers", principal, query: { status: "active", limit: 2 } };
const position = { at: "2025-01-31T10:00:00.000Z", id: "17" };

function isRefused(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    return error instanceof ApiError && error.code === "invalid_cursor";
  }
}

test("a cursor reads back what was written, with its range, for any limit (G33)", () => {
  const range = { fromMs: 1, toMs: 2, tz: "Europe/Berlin" };
  const cursor = cursors.write(binding, position, range);
  const again = { ...binding, query: { limit: 50, cursor, status: "active", q: undefined } };
  expect(cursors.read(again, cursor)).toEqual({ position, range });
  expect(cursors.read(binding, cursors.write(binding, position))).toEqual({
    position,
    range: undefined,
  });
  expect(cursors.read(binding, undefined)).toBeUndefined();
});

test("another list, filter, workspace, role or installation refuses it (LIM-008, G33)", () => {
  const cursor = cursors.write(binding, position);
  for (const other of [
    { ...binding, list: "listAffiliates" },
    { ...binding, query: { status: "paused" } },
    { ...binding, query: { status: "active", q: "x" } },
    { ...binding, principal: { ...principal, workspace: { ...principal.workspace, id: 4 } } },
    { ...binding, principal: { ...principal, role: "analyst" as const } },
  ]) {
    expect(isRefused(() => cursors.read(other, cursor))).toBe(true);
  }
  expect(isRefused(() => new Cursors("11".repeat(32)).read(binding, cursor))).toBe(true);
});

test("a changed cursor is refused (LIM-009)", () => {
  const cursor = cursors.write(binding, position);
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.base64String()), (text) => {
      expect(isRefused(() => cursors.read(binding, text))).toBe(true);
    }),
  );
  fc.assert(
    fc.property(
      fc.nat(cursor.length - 1),
      fc.constantFrom("A", "b", "9", "-", "_", "."),
      (at, letter) => {
        const changed = `${cursor.slice(0, at)}${letter}${cursor.slice(at + 1)}`;
        expect(isRefused(() => cursors.read(binding, changed))).toBe(changed !== cursor);
      },
    ),
  );
});
