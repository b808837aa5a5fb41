import { expect, test } from "vitest";
import { AgeBuckets } from "./click-ages.ts";

function metrics(...counts: readonly number[]): string {
  const bounds = ["0.1", "1", "10", "+Inf"];
  return [
    'tracker_clicks_freshness_seconds_bucket{table="impression",le="0.1"} 7',
    ...counts.map(
      (count, at) =>
        `tracker_clicks_freshness_seconds_bucket{table="click",le="${bounds[at] ?? "+Inf"}"} ${count}`,
    ),
  ].join("\n");
}

test("a quantile of ages is interpolated within its bucket, and clicks before the bench do not count", () => {
  const before = AgeBuckets.parse(metrics(50, 50, 50, 50));
  const ages = AgeBuckets.parse(metrics(50, 150, 150, 150)).since(before);
  expect(ages.quantileMs(0.5)).toBeCloseTo(550);
  expect(ages.quantileMs(1)).toBeCloseTo(1_000);
});

test("ages above the last bound count as the last bound, and no clicks have no age", () => {
  expect(AgeBuckets.parse(metrics(0, 0, 0, 5)).quantileMs(0.99)).toBe(10_000);
  expect(AgeBuckets.parse(metrics(0, 0, 0, 0)).quantileMs(0.99)).toBeNaN();
});

test("metrics without ages of clicks are an error, not an age of zero", () => {
  expect(() => AgeBuckets.parse("")).toThrow(/no ages/);
});
