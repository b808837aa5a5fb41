import fc from "fast-check";
import { expect, test } from "vitest";
import { amountOf, formatAmount } from "../../../schemas/money/amount.ts";
import { allocationsOf } from "./allocate-payments.ts";

const shown = (of: ReturnType<typeof allocationsOf>) =>
  of.map(({ payment_id, invoice_id, amount }) => [payment_id, invoice_id, formatAmount(amount)]);

test("a payment covers the invoices that it names, then the oldest; the rest is left (N58)", () => {
  const invoices = [
    { id: 1, open: "10.0000" },
    { id: 2, open: "20.0000" },
    { id: 3, open: "5.0000" },
  ];
  const credits = [
    { id: 7, unapplied: "22.0000", invoice_ids: [2, 9] },
    { id: 8, unapplied: "40.0000", invoice_ids: [] },
  ];
  expect(shown(allocationsOf(invoices, credits))).toEqual([
    [7, 2, "20.0000"],
    [7, 1, "2.0000"],
    [8, 1, "8.0000"],
    [8, 3, "5.0000"],
  ]);
});

const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 8n }), { maxLength: 8 });
const total = (of: readonly bigint[]) => of.reduce((sum, amount) => sum + amount, 0n);

test("nothing is covered twice, and nothing is left where something is open (N58)", () => {
  fc.assert(
    fc.property(amounts, amounts, fc.array(fc.integer({ min: 0, max: 9 })), (open, left, named) => {
      const invoices = open.map((amount, id) => ({ id, open: formatAmount(amount) }));
      const credits = left.map((amount, id) => ({
        id: id + 100,
        unapplied: formatAmount(amount),
        invoice_ids: named,
      }));
      const made = allocationsOf(invoices, credits);
      for (const { id, open: due } of invoices) {
        const covered = total(made.filter((one) => one.invoice_id === id).map((one) => one.amount));
        expect(covered <= amountOf(due)).toBe(true);
      }
      for (const { id, unapplied } of credits) {
        const used = total(made.filter((one) => one.payment_id === id).map((one) => one.amount));
        expect(used <= amountOf(unapplied)).toBe(true);
      }
      const all = total(made.map(({ amount }) => amount));
      const least = total(open) < total(left) ? total(open) : total(left);
      expect(all).toBe(least);
    }),
  );
});
