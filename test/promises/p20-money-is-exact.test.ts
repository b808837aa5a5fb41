import { expect, test } from "vitest";
import { ConversionFleet } from "../system/conversion-fleet.ts";
import { randomOf, SEED } from "../system/seed.ts";
import { until } from "../system/until.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const CONVERSIONS = IS_FULL ? 20_000 : 800;
const SENDERS = 32;
const OFFERS = 6;
/** Rates that a float cannot represent. */
const RATES = { EUR: "1", USD: "1.1721", JPY: "183.99", HUF: "384.4300000001" };

/** A fraction of integers. The oracle rounds once, at the end, and uses none of the service's code. */
type Fraction = readonly [bigint, bigint];

const times = (a: Fraction, b: Fraction): Fraction => [a[0] * b[0], a[1] * b[1]];
const over = (a: Fraction, b: Fraction): Fraction => [a[0] * b[1], a[1] * b[0]];

function exact(text: string): Fraction {
  const [whole = "0", fraction = ""] = text.split(".");
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
}

/** Rounds to ten-thousandths, half away from zero. */
function rounded([numerator, denominator]: Fraction): bigint {
  return (2n * numerator * 10_000n + denominator) / (2n * denominator);
}

function decimal(units: bigint): string {
  const digits = units.toString().padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

test("sums of money equal big-integer sums in both databases (P20, PB-011, PB-016, LIFE-043)", async (context) => {
  const random = randomOf(SEED);
  const roll = (below: number): number => Math.floor(random() * below);
  await using fleet = await ConversionFleet.open(1);
  await fleet.addProcessor(2, "conversions,facts");
  const { world } = fleet;
  world.startWriters();
  for (const [currency, rate] of Object.entries(RATES).slice(1)) {
    await world.rows(
      "insert into fx_rate (date, currency, rate) values ((now() at time zone 'UTC')::date, $1, $2)",
      [currency, rate],
    );
  }
  const money = (wholeBelow: number): string =>
    `${roll(wholeBelow)}.${String(roll(10_000)).padStart(4, "0")}`;
  const offers = await Promise.all(
    Array.from({ length: OFFERS }, async (_, i) => {
      const [payout, revenue] = [money(100), money(100)];
      const terms = {
        payout_type: "cps",
        payout,
        revenue_type: "rps",
        revenue,
        currency: i % 2 === 0 ? "USD" : "JPY",
      };
      return { id: await world.addOffer(terms), payout, revenue, currency: terms.currency };
    }),
  );
  await fleet.untilCurrent();
  const sums = { sale: 0n, payout: 0n, revenue: 0n };
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < CONVERSIONS) {
      const number = next;
      next += 1;
      const offer = offers[roll(OFFERS)];
      if (offer === undefined) continue;
      const currency = Object.keys(RATES)[roll(4)] ?? "EUR";
      const amounts = [money(100_000), money(100_000)].slice(0, 1 + roll(2));
      const click = world.addYoungClick({ offer_id: offer.id });
      // The second amount is a later change of the same order.
      for (const amount of amounts) {
        const params = { click_id: click.click_id, txid: `t${number}`, amount, currency };
        // A repeat because of a late answer would be a duplicate.
        const { body } = await world.reportUntilAnswered(params, { timeoutMs: 20_000 });
        expect(body, `seed ${SEED}, ${JSON.stringify(params)}`).toMatchObject({
          ok: true,
          status: "approved",
        });
      }
      const sale = rounded(
        currency === offer.currency
          ? exact(amounts.at(-1) ?? "0")
          : over(times(exact(amounts.at(-1) ?? "0"), rateOf(offer.currency)), rateOf(currency)),
      );
      const share = (percent: string): bigint =>
        rounded(over(times([sale, 10_000n], exact(percent)), [100n, 1n]));
      sums.sale += sale;
      sums.payout += share(offer.payout);
      sums.revenue += share(offer.revenue);
      world.young.delete(click.click_id);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  const expected = {
    sale: decimal(sums.sale),
    payout: decimal(sums.payout),
    revenue: decimal(sums.revenue),
  };
  const stored = await world.rows(
    "select sum(sale_amount) as sale, sum(payout) as payout, sum(revenue) as revenue from conversion where status = 'approved'",
  );
  reportCases(context, { cases: CONVERSIONS, violations: 0 });
  expect(stored, `seed ${SEED}`).toEqual([expected]);
  await until(
    `ClickHouse has the same sums (seed ${SEED}): ${JSON.stringify(expected)}`,
    async () => JSON.stringify(await factSums(fleet)) === JSON.stringify([expected]),
  );
});

function rateOf(currency: string): Fraction {
  return exact(Object.entries(RATES).find(([name]) => name === currency)?.[1] ?? "1");
}

async function factSums({ world }: ConversionFleet): Promise<unknown> {
  const answer = await world.clickhouse.query({
    query: `select toDecimalString(sum(sale_amount), 4) as sale, toDecimalString(sum(payout), 4) as payout,
              toDecimalString(sum(revenue), 4) as revenue
            from conversion_fact final where status = 'approved'`,
    format: "JSONEachRow",
  });
  return await answer.json();
}
