import { expect, test } from "vitest";
import { faultsCsv } from "./faults-csv.ts";

test("faults are lines of quoted cells, and none is a formula", () => {
  const faults = [
    { row: 2, field: "name", message: "required" },
    { row: 3, field: '=cmd|"x"', message: "unknown field" },
  ];
  expect(faultsCsv(faults)).toBe(
    '"row","field","message"\r\n"2","name","required"\r\n"3","\'=cmd|""x""","unknown field"\r\n',
  );
});
