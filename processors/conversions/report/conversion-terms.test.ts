import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAmount } from "../../../schemas/money/amount.ts";
import { computeMoney, resolveTerms, type Terms } from "./conversion-terms.ts";

const offer = { payout_type: "cpa", revenue_type: "rpa" } as const;
const event = {
  code: "sale",
  is_default: false,
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

test("an override for the event wins over one for all, for payout and revenue apart (G46, CNV-018)", () => {
  const general = {
    ...anOverride,
    event_code: "*",
    payout_type: "cpa",
    payout: "11.0000",
    revenue_type: "rpa",
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
    revenueType: "rpa",
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

test("an override without event_code is for the default event, `*` for all of the type (#5, G199)", () => {
  const cps = { payout_type: "cps", payout: "10.0000" } as const;
  const isDefault = { is_default: true, code: "default" } as const;
  const payoutOf = (own: object, of: object): string => {
    const { payoutType, payoutRate } = resolveTerms(offer, { ...event, ...of }, [
      { ...anOverride, ...own },
    ]);
    return `${payoutType} ${formatAmount(payoutRate)}`;
  };
  expect(payoutOf(cps, {})).toBe("cpa 10.0000");
  expect(payoutOf(cps, isDefault)).toBe("cps 10.0000");
  expect(payoutOf(cps, { payout_type: "cps", payout: "3.0000" })).toBe("cps 3.0000");
  const all = { ...cps, event_code: "*" };
  expect(payoutOf(all, {})).toBe("cpa 10.0000");
  expect(payoutOf(all, isDefault)).toBe("cpa 10.0000");
  expect(payoutOf(all, { payout_type: "cps", payout: "3.0000" })).toBe("cps 10.0000");
  const both = { ...all, revenue_type: "rps", revenue: "50.0000" } as const;
  const { revenueType } = resolveTerms(offer, { ...event, payout_type: "cps" }, [
    { ...anOverride, ...both },
  ]);
  expect(revenueType).toBe("rpa");
  const own = {
    ...anOverride,
    event_code: "default",
    payout_type: "cpa",
    payout: "7.0000",
  } as const;
  const plain = { ...anOverride, ...cps };
  const every = { ...anOverride, event_code: "*", payout_type: "cpa", payout: "8.0000" } as const;
  const chosen = (overrides: (typeof own | typeof plain | typeof every)[]) =>
    formatAmount(resolveTerms(offer, { ...event, ...isDefault }, overrides).payoutRate);
  expect(chosen([every, plain, own])).toBe("7.0000");
  expect(chosen([every, plain])).toBe("10.0000");
  expect(chosen([every])).toBe("8.0000");
});

test("an offer paid by click pays nothing by conversion (G43)", () => {
  const terms: Terms = { payoutType: "cpc", payoutRate: 7n, revenueType: "rpc", revenueRate: 9n };
  expect(
    computeMoney(terms, { saleAmount: 100n, payout: undefined, revenue: undefined }),
  ).toMatchObject({
    payout: 0n,
    revenue: 0n,
  });
});

test("a share of a sale is exact, rounded half up at the fourth decimal, and never a float (P20, G23)", () => {
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
