import { expect, test } from "vitest";
import { savedQuery } from "./own-query.ts";

test("a view keeps the settings of a screen, and no record that is open", () => {
  expect(savedQuery("group_by=offer%2Ccountry&open=7&page=3&new=1&sort=-profit")).toBe(
    "group_by=offer%2Ccountry&sort=-profit",
  );
  expect(savedQuery("")).toBe("");
});
