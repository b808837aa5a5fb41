import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAmount } from "../../schemas/money/amount.ts";
import { computeMoney, resolveTerms, type Terms } from "./conversion-terms.ts";

const offer = { payout_type: "cpa", revenue_type: "rpa" } as const;
const event = {
  code: "sale",
  payout_type: "cpa",
  payout: "10.0000",
  revenue_type: "rpa",
  revenue: "15.0000",
} as const;
const anOverride = {
  id: 1,
  offer_id: 1,
  affiliate_id: 1,
  event_code: null,
  payout_type: null,
  payout: null,
  revenue_type: null,
  revenue: null,
};

test("G46 CNV-018: an override of the event goes before one of the offer, each side for itself", () => {
  const general = {
    ...anOverride,
    payout_type: "cpa",
    payout: "11.0000",
    revenue_type: "rps",
    revenue: "20.0000",
  } as const;
  const special = {
    ...anOverride,
    event_code: "sale",
    payout_type: "cps",
    payout: "5.0000",
  } as const;
  expect(resolveTerms(offer, event, [general, special])).toEqual({
    payoutType: "cps",
    payoutRate: 50_000n,
    revenueType: "rps",
    revenueRate: 200_000n,
  });
  const elsewhere = { ...special, event_code: "lead" };
  expect(resolveTerms(offer, event, [elsewhere])).toMatchObject({
    payoutType: "cpa",
    payoutRate: 100_000n,
  });
  expect(resolveTerms({ ...offer, payout_type: "cpc" }, event, [special])).toMatchObject({
    payoutType: "cpa",
  });
});

test("G43: what is paid by click pays nothing by conversion", () => {
  const terms: Terms = { payoutType: "cpc", payoutRate: 7n, revenueType: "rpc", revenueRate: 9n };
  expect(
    computeMoney(terms, { saleAmount: 100n, payout: undefined, revenue: undefined }),
  ).toMatchObject({
    payout: 0n,
    revenue: 0n,
  });
});

test("P20 G23: a share of a sale is the exact one rounded half up at the fourth decimal, and never a float", () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 16n });
  fc.assert(
    fc.property(amounts, fc.bigInt({ min: 0n, max: 1_000_000n }), (saleAmount, rate) => {
      const terms: Terms = {
        payoutType: "cps",
        payoutRate: rate,
        revenueType: "rpa",
        revenueRate: rate,
      };
      const { payout, revenue } = computeMoney(terms, {
        saleAmount,
        payout: undefined,
        revenue: undefined,
      });
      const exact = saleAmount * rate;
      expect(2n * (payout * 1_000_000n - exact)).toBeLessThanOrEqual(1_000_000n);
      expect(2n * (exact - payout * 1_000_000n)).toBeLessThan(1_000_000n);
      expect(revenue).toBe(rate);
      expect(formatAmount(payout)).toMatch(/^\d+\.\d{4}$/);
    }),
  );
});
