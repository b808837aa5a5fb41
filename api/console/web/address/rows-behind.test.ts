import { expect, test } from "vitest";
import { STAFF_FIGURES } from "../figures/staff-figures.ts";
import type { Period } from "./period.ts";
import { rowsBehind } from "./rows-behind.ts";

const { lists } = STAFF_FIGURES;
const MONTH: Period = {
  range: { from: "2026-10-01", to: "2026-10-31" },
  compare: "previous",
  currency: "EUR",
  isConverted: true,
};

type Asked = Omit<Parameters<typeof rowsBehind>[0], "lists">;

function paramsOf(asked: Asked): Record<string, string> {
  const behind = rowsBehind({ lists, ...asked });
  if (behind.kind === "none") throw new Error(behind.why);
  const [path = "", search = ""] = behind.path.split("?");
  return { path, ...Object.fromEntries(new URLSearchParams(search)) };
}

test("a count leads to its list with the filters and range of the report, and nothing that a list refuses", () => {
  expect(
    paramsOf({
      metric: "pending_conversions",
      period: MONTH,
      filters: ["country:in:DE"],
      dateBasis: "click",
    }),
  ).toEqual({
    path: "/conversions",
    from: "2026-10-01",
    to: "2026-10-31",
    filters: "country:in:DE,status:in:pending",
    date_basis: "click",
  });
});

test("without filters the list still counts as a report does", () => {
  expect(paramsOf({ metric: "clicks", period: MONTH, filters: [] })).toEqual({
    path: "/clicks",
    from: "2026-10-01",
    to: "2026-10-31",
    filters: "",
  });
});

test("a cell of one day asks for that day, also within a long range", () => {
  const year = { ...MONTH, range: { from: "2026-01-01", to: "2026-12-31" } };
  const filters = ["date:in:2026-03-04", "country:in:DE"];
  expect(paramsOf({ metric: "clicks", period: year, filters })).toEqual({
    path: "/clicks",
    from: "2026-03-04",
    to: "2026-03-04",
    filters: "country:in:DE",
  });
});

test("a day outside of the range stays a filter, so that nothing is listed that is not counted", () => {
  const filters = ["date:in:2026-11-04"];
  expect(paramsOf({ metric: "clicks", period: MONTH, filters })).toMatchObject({
    from: "2026-10-01",
    filters: "date:in:2026-11-04",
  });
});

test("where there is no list, the reason is given", () => {
  const quarter = { ...MONTH, range: { preset: "last_quarter" } as const };
  for (const asked of [
    { metric: "impressions", period: MONTH, filters: [] },
    { metric: "revenue", period: MONTH, filters: [] },
    { metric: "clicks", period: quarter, filters: ["offer:in:7"] },
    { metric: "conversions", period: quarter, filters: [] },
    {
      metric: "clicks",
      period: { ...MONTH, range: { from: "2026-09-30", to: "2026-10-31" } },
      filters: [],
    },
  ]) {
    expect([asked.metric, rowsBehind({ lists, ...asked }).kind]).toEqual([asked.metric, "none"]);
  }
});

test("conversions of named offers are listed for any range", () => {
  const quarter = { ...MONTH, range: { preset: "last_quarter" } as const };
  const asked = { metric: "conversions", period: quarter, filters: ["offer:in:7"] };
  expect(rowsBehind({ lists, ...asked }).kind).toBe("list");
});
