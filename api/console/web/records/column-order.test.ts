import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addressedPlaces,
  arranged,
  earlyFirst,
  isReordered,
  keptPlaces,
  moved,
  placesAddress,
  placesOf,
  toggled,
} from "./column-order.ts";

const COLUMNS = [
  { name: "name", opens: true },
  { name: "code" },
  { name: "status", isEarly: true },
  { name: "tags", isOptional: true },
  { name: "payout", isEarly: true },
] as const;
const NAMES = COLUMNS.map(({ name }) => name);
const shownIn = (kept: readonly string[]): readonly string[] =>
  arranged(COLUMNS, placesOf(COLUMNS, kept)).map(({ name }) => name);

describe("order of columns", () => {
  test("without a choice, all columns but the optional ones stand as they were built", () => {
    expect(shownIn([])).toEqual(["name", "code", "status", "payout"]);
  });

  test("what was kept comes back in its order, with what was hidden and shown", () => {
    expect(shownIn(["name", "payout", "-status", "tags", "code"])).toEqual([
      "name",
      "payout",
      "tags",
      "code",
    ]);
  });

  test("the column that names the row is first and shown, whatever was kept", () => {
    expect(shownIn(["code", "-name", "payout"])[0]).toBe("name");
    const places = toggled(placesOf(COLUMNS), "name");
    expect(places[0]).toEqual({ name: "name", isShown: true });
    expect(moved(places, "name", 1)).toEqual(places);
    expect(moved(places, "code", -1)).toEqual(places);
  });

  test("names of another release are passed over, and a column that is new stands behind its neighbour", () => {
    expect(shownIn(["name", "gone", "payout", "payout", "status", "code"])).toEqual([
      "name",
      "payout",
      "status",
      "code",
    ]);
    // "code" is new: it was built behind "name".
    expect(shownIn(["name", "-payout", "status", "-tags"])).toEqual(["name", "code", "status"]);
  });

  test("any words that were kept give every column once, and are read again as they were written", () => {
    const word = fc.oneof(fc.constantFrom(...NAMES), fc.string());
    const words = fc.array(fc.tuple(fc.boolean(), word).map(([is, one]) => (is ? one : `-${one}`)));
    fc.assert(
      fc.property(words, (kept) => {
        const places = placesOf(COLUMNS, kept);
        expect(places.map(({ name }) => name).toSorted()).toEqual([...NAMES].toSorted());
        expect(placesOf(COLUMNS, keptPlaces(places))).toEqual(places);
      }),
    );
  });

  test("a column moves one place and back", () => {
    const places = placesOf(COLUMNS);
    const down = moved(places, "code", 1);
    expect(down.map(({ name }) => name)).toEqual(["name", "status", "code", "tags", "payout"]);
    expect(moved(down, "code", -1)).toEqual(places);
    expect(moved(places, "payout", 1)).toEqual(places);
    expect(isReordered(COLUMNS, down)).toBe(true);
    expect(isReordered(COLUMNS, toggled(places, "code"))).toBe(false);
  });

  test("an address names the columns that are shown, and one without a known name is passed over", () => {
    const places = placesOf(COLUMNS, ["name", "payout", "-status", "tags", "-code"]);
    const address = placesAddress(places);
    expect(address).toBe("name,payout,tags");
    expect(shownIn(addressedPlaces(COLUMNS, address) ?? [])).toEqual(["name", "payout", "tags"]);
    expect(addressedPlaces(COLUMNS, "gone,<b>")).toBeUndefined();
    expect(addressedPlaces(COLUMNS, "")).toBeUndefined();
  });

  test("a phone begins with the name, the state and the money", () => {
    expect(earlyFirst(arranged(COLUMNS, placesOf(COLUMNS))).map(({ name }) => name)).toEqual([
      "name",
      "status",
      "payout",
      "code",
    ]);
  });
});
