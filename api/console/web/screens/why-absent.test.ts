import { expect, test } from "vitest";
import { drawnValue, whyAbsent } from "./why-absent.ts";

const CTR = { name: "ctr", kind: "ratio", label: "CTR" } as const;
const EPC = { name: "epc", kind: "price", label: "EPC" } as const;
const HOME = { shown: "USD", others: [] };

test("a CTR is shown only where impressions were counted, and as many as clicks (D13)", () => {
  expect(whyAbsent(CTR, { ctr: 0.25 }, HOME)).toBeUndefined();
  expect(whyAbsent(CTR, { ctr: 1 }, HOME)).toBeUndefined();
  expect(whyAbsent(CTR, { ctr: 2.2759 }, HOME)).toContain("More clicks than impressions");
  expect(whyAbsent(CTR, { ctr: null }, HOME)).toBe("No impressions were counted");
  expect(drawnValue("ctr", 2.2759)).toBeNull();
  expect(drawnValue("margin", 2.2759)).toBe(2.2759);
});

test("a price that is not defined says whether money of another currency is left out (D9)", () => {
  expect(whyAbsent(EPC, { epc: null }, { shown: "USD", others: ["EUR"] })).toContain(
    "Offers in EUR are left out",
  );
  expect(whyAbsent(EPC, { epc: null }, HOME)).toBe(
    "Nothing was counted that it could be divided by",
  );
  expect(whyAbsent(EPC, { epc: "0.0000" }, HOME)).toBeUndefined();
  expect(whyAbsent(EPC, undefined, HOME)).toBeUndefined();
});
