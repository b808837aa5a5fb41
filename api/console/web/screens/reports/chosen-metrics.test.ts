import { expect, test } from "vitest";
import { readReport, reportAddress } from "../../address/report.ts";
import { STAFF_FIGURES } from "../../figures/staff-figures.ts";
import { withMetrics } from "./chosen-metrics.ts";

const FIELDS = {
  dimensions: [],
  metrics: ["clicks", "conversions", "payout", "bot_clicks"].map((name) => ({
    name,
    label: name,
    kind: "count" as const,
    definition: "",
  })),
};
const metricsOf = (address: string): readonly string[] =>
  withMetrics(readReport(new URLSearchParams(address)).report, FIELDS, STAFF_FIGURES.reported)
    .metrics;

test("an address without metrics means the usual ones of the role that the member may see", () => {
  expect(metricsOf("")).toEqual(["clicks", "conversions", "payout"]);
  expect(metricsOf("metrics=bot_clicks,nothing_known")).toEqual(["bot_clicks"]);
  expect(STAFF_FIGURES.reported.length).toBeLessThanOrEqual(8);
});

test("the usual metrics do not get into the address", () => {
  const { report } = readReport(new URLSearchParams("sort=-clicks"));
  expect(reportAddress(report).has("metrics")).toBe(false);
});
