import { expect, test } from "vitest";
import { readReport, reportAddress, reportQuery } from "./report.ts";

const read = (address: string, usual?: "previous" | "previous_year") =>
  readReport(new URLSearchParams(address), usual).report;

test("an address that names no comparison has the usual one", () => {
  expect(read("preset=today", "previous").period.compare).toBe("previous");
  expect(read("preset=today&compare=previous_year", "previous").period.compare).toBe(
    "previous_year",
  );
  expect(read("preset=today").period.compare).toBeUndefined();
});

test("no comparison stays in the address, and is no parameter of the API", () => {
  const report = read("preset=today&compare=none", "previous");
  expect(report.period.compare).toBeUndefined();
  expect(reportAddress(report).get("compare")).toBe("none");
  expect(reportQuery(report)).not.toHaveProperty("compare");
});

test("a written address is read as the same report, whatever the usual comparison is", () => {
  for (const address of ["compare=none", "compare=previous&group_by=country&sort=clicks&page=2"]) {
    const report = read(address);
    expect(readReport(reportAddress(report), "previous_year").report).toEqual(report);
  }
});
