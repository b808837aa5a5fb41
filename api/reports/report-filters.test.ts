import { expect, test } from "vitest";
import { words } from "../../test/samples/words.ts";
import { COUNTRY_CODES } from "../fields/iso-codes.ts";
import { closedValue } from "./closed-values.ts";
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

test.each([
  ["country:in:Germany|usa|tr", ["DE", "US", "TR"]],
  ["country:not_in:Côte d’Ivoire|(none)", ["CI", ""]],
  ["device_type:in:Mobile|DESKTOP", ["mobile", "desktop"]],
  ["os:in:ios|WINDOWS", ["iOS", "Windows"]],
  ["browser:in:samsung internet", ["Samsung Internet"]],
  ["status:in:Approved", ["approved"]],
  ["click_status:eq:Fallback", ["fallback"]],
  ["status_reason:in:Not_Approved", ["not_approved"]],
  ["link_type:in:Transparent", ["transparent"]],
  ["method:in:S2S", ["s2s"]],
  ["currency:in:eur", ["EUR"]],
  ["weekday:in:Monday|7|sunday", [1, 7, 7]],
  ["hour_of_day:in:03:00|23|9:00", [3, 23, 9]],
  ["conversion_delay:in:1 to 5 minutes|1M", [2, 1]],
  ["week:in:2025-W05|2025-02-01", [20_115, 20_115]],
  // In no list: other sub IDs differ by case, and a system may be in the table (stored-names.ts).
  ["sub1:in:Germany", ["Germany"]],
  ["os:in:Rare OS", ["Rare OS"]],
  ["country:contains:e", ["E"]],
] as const)(
  "a filter takes the names that reports and screens show: %s (#36, G67, G238)",
  (given, expected) => {
    const filters = parseFilters([given], "staff");
    expect(typeof filters === "string" ? filters : filters[0]?.values).toEqual(expected);
  },
);

test.each([
  ["country:in:Germny", "Germany (DE)"],
  ["country:in:DEU", "DE"],
  ["device_type:not_in:moble", "mobile"],
  ["status:in:aproved", "approved"],
  ["click_status:in:redirected", "redirect"],
  ["status_reason:in:notapproved", "not_approved"],
  ["link_type:in:afiliate", "affiliate"],
  ["method:in:s2c", "s2s"],
  ["currency:in:EURO", "EUR"],
  ["weekday:in:Mondy", "Monday"],
  ["conversion_delay:in:6hours", "6h"],
] as const)(
  "an unknown value of a closed list is refused with the nearest: %s, %s (#36, REP-020, G238)",
  (given, nearest) => {
    const refused = parseFilters([given], "staff");
    expect(refused).toMatch(/^unknown /);
    expect(refused).toContain(`nearest: ${nearest}, in "${given}"`);
  },
);

test("the country of a name is the one that has it as its own code or name (G238)", () => {
  for (const code of COUNTRY_CODES) {
    expect(closedValue("country", code)).toBe(code);
    expect(closedValue("country", code.toLowerCase())).toBe(code);
    const name = new Intl.DisplayNames("en", { type: "region" }).of(code) ?? "";
    expect(closedValue("country", name)).toBe(code);
  }
});

test("terms may be repeated as parameters (G67)", () => {
  expect(read("offer:in:1", "country:in:US")).toHaveLength(2);
});

test.each([
  ...words(`
    offer offer:in offer:in: offer:zz:1 foo:in:1 advertiser:in:-1 offer:in:-1 offer:in:99999999999
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
