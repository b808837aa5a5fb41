import { expect, test } from "vitest";
import { amountOf, formatAmount } from "../money/amount.ts";
import { taxOf } from "./tax-of.ts";

test.each([
  ["EUR", "10.0500", "19.0000", "1.9100"],
  ["EUR", "0.0500", "10.0000", "0.0100"],
  // 0.00495 is below half a cent; rounding it to a ten-thousandth first would make it 0.0050 and then a cent.
  ["EUR", "0.0300", "16.5000", "0.0000"],
  ["EUR", "0.5000", "1", "0.0100"],
  ["EUR", "0.4900", "1", "0.0000"],
  ["EUR", "1840.5500", "19", "349.7000"],
  ["EUR", "0.0700", "7.1428", "0.0000"],
  ["JPY", "1849.0000", "10", "185.0000"],
  ["JPY", "105.0000", "10.0000", "11.0000"],
  ["KWD", "1.2340", "5.0000", "0.0620"],
])("%s: the tax on %s at %s percent is %s, rounded once (N48)", (currency, payable, rate, tax) => {
  expect(formatAmount(taxOf(amountOf(payable), { mode: "domestic", rate }, currency))).toBe(tax);
  for (const mode of ["none", "reverse_charge", "exempt"] as const)
    expect(taxOf(amountOf(payable), { mode, rate }, currency)).toBe(0n);
});
