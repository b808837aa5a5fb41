import { expect, test } from "vitest";
import { clickGroups } from "./click-words.ts";

const CLICK = {
  click_id: "a1",
  workspace_id: 1,
  offer_id: 9,
  affiliate_id: 6,
  country: "DE",
  city: "",
  is_bot: false,
  asn: 0,
  sub3: "winter",
  gclid: "x",
  later_field: "new",
};

test("fields of a click stand in groups by the words of people, without empty ones", () => {
  const shown = clickGroups(CLICK).map(({ title, rows }) => [
    title,
    ...rows.map(([words]) => words),
  ]);
  expect(shown).toEqual([
    ["Visitor", "Country"],
    ["Source", "Sub 3"],
    ["Ad platform", "gclid of Google Ads"],
    ["Technical", "later field"],
  ]);
});

test("numbers of records and of the workspace are in no group", () => {
  const names = clickGroups(CLICK).flatMap(({ rows }) => rows.map(([, name]) => name));
  expect(names.filter((name) => name.endsWith("_id"))).toEqual([]);
});
