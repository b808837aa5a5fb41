import { expect, test } from "vitest";
import { words } from "../../test/samples/words.ts";
import { emptyPasses, parseFilters } from "./report-filters.ts";

function read(...given: string[]): unknown {
  const filters = parseFilters(given, "staff");
  if (typeof filters === "string") return "refused";
  return filters.map(({ dimension, operator, values }) => [dimension.name, operator, ...values]);
}

test.each([
  ["offer:in:1|2", [["offer", "in", 1, 2]]],
  ["country:not_in:us", [["country", "not_in", "US"]]],
  [
    "country:eq:US,os:ne:iOS",
    [
      ["country", "in", "US"],
      ["os", "not_in", "iOS"],
    ],
  ],
  ["sub1:contains:a%2Cb|c%7Cd", [["sub1", "contains", "a,b", "c|d"]]],
  ["sub1:in:a:b", [["sub1", "in", "a:b"]]],
  ["sub1:in:50%", [["sub1", "in", "50%"]]],
  ["sub1:in:x|", [["sub1", "in", "x", ""]]],
  ["currency:in:usd|", [["currency", "in", "USD", ""]]],
  ["currency:starts_with:U", [["currency", "starts_with", "U"]]],
  ["sub1:empty", [["sub1", "empty"]]],
  ["offer:not_empty", [["offer", "not_empty"]]],
  ["is_bot:in:1|false", [["is_bot", "in", "true", "false"]]],
  ["date:in:2025-01-31", [["date", "in", 20_119]]],
  ["week:in:2025-02-01", [["week", "in", 20_115]]],
  ["month:in:2025-02", [["month", "in", 202_502]]],
  ["hour:in:2025-01-31T10:00", [["hour", "in", 482_866]]],
  ["", []],
] as const)("%s (G67)", (given, expected) => {
  expect(read(given)).toEqual(expected);
});

test("terms may be repeated as parameters (G67)", () => {
  expect(read("offer:in:1", "country:in:US")).toHaveLength(2);
});

test.each([
  ...words(`
    offer offer:in offer:in: offer:zz:1 foo:in:1 advertiser:in:abc offer:in:-1 offer:in:99999999999
    offer:contains:1 date:contains:2025 date:in:2025-02-30 date:empty hour:in:2025-01-31
    month:in:2025-13 is_bot:in:yes sub1:empty:x currency:in:ZZZZ currency:not_in:USD|XXX
  `),
  Array.from({ length: 31 }, () => "offer:in:1").join(","),
])("%s is refused (REP-020)", (given) => {
  expect(read(given)).toBe("refused");
});

test("a refusal lists the known names, without those hidden from the role (REP-057)", () => {
  const refused = (term: string, role: "staff" | "partner"): string => {
    const filters = parseFilters([term], role);
    return typeof filters === "string" ? filters : "taken";
  };
  const ofStaff = refused("foo:in:1", "staff");
  const ofPartner = refused("manager:in:1", "partner");
  expect(ofStaff).toMatch(
    /^unknown dimension in "foo:in:1"; known dimensions: offer, affiliate, advertiser,/,
  );
  expect(ofPartner).toMatch(
    /^unknown dimension in "manager:in:1"; known dimensions: offer, affiliate, smart_link,/,
  );
  expect(ofPartner).not.toMatch(/advertiser|is_bot|is_datacenter|manager,/);
  expect(refused("offer:eqq:1", "staff")).toMatch(
    /^unknown operator in "offer:eqq:1"; known operators: in, not_in/,
  );
});

test.each([
  ["country:in:US", false],
  ["country:in:US|", true],
  ["country:not_in:US", true],
  ["smart_link:in:0", true],
  ["smart_link:not_in:0", false],
  ["sub1:contains:a", false],
  ["sub1:not_contains:a", true],
  ["sub1:starts_with:a", false],
  ["sub1:empty", true],
  ["sub1:not_empty", false],
] as const)("a row without a value passes %s: %s (T34)", (given, passes) => {
  const filters = parseFilters([given], "staff");
  expect(typeof filters === "string" ? given : filters.map(emptyPasses)).toEqual([passes]);
});
