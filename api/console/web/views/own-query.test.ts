import { expect, test } from "vitest";
import { savedQuery } from "./own-query.ts";

test("a view keeps the settings of a screen, and no record that is open", () => {
  expect(savedQuery("group_by=offer%2Ccountry&open=7&page=3&new=1&sort=-profit")).toBe(
    "group_by=offer%2Ccountry&sort=-profit",
  );
  expect(savedQuery("")).toBe("");
});

test("a view keeps the columns that are shown, which the address alone does not say", () => {
  expect(savedQuery("status=active&open=7", { columns: "name,payout" })).toBe(
    "status=active&columns=name%2Cpayout",
  );
  expect(savedQuery("columns=name", { columns: "name,code" })).toBe("columns=name%2Ccode");
});
