import { createHash } from "node:crypto";
import { z } from "zod";
import { type Amount, amountOf, percentOf } from "../../schemas/money/amount.ts";
import type { LogLine } from "./log-lines.ts";
import type { ServiceClient } from "./service.ts";

const Offer = z.object({
  id: z.int(),
  code: z.string(),
  status: z.string(),
  visibility: z.string(),
  currency: z.string(),
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout: z.string(),
  revenue_type: z.enum(["rpa", "rps", "rpc"]),
  revenue: z.string(),
});
export type PlanOffer = z.infer<typeof Offer>;
const Offers = z.object({ data: z.array(Offer) });
const Affiliates = z.object({
  data: z.array(z.object({ id: z.int(), code: z.string(), status: z.string() })),
});

/** What one log line becomes: a click on a link and, for a share of the lines, a conversion of it. */
export type PlannedVisit = {
  readonly line: LogLine;
  readonly offer: PlanOffer;
  readonly affiliate: { readonly id: number; readonly code: string };
  readonly converts: boolean;
  /** Sale amount of the conversion: decimal text with two places. */
  readonly saleAmount: string;
};

/**
 * Spreads the lines over all active public offers and active partners of the demo workspace. The same seed gives the same
 * plan. `share` is the part of the lines that convert, 0 to 1.
 */
export async function planVisits(
  client: ServiceClient,
  lines: readonly LogLine[],
  options: { readonly seed: string; readonly share: number },
): Promise<PlannedVisit[]> {
  const offers = Offers.parse(await client.rest("/offers?status=active&limit=200")).data.filter(
    (offer) => offer.visibility === "public",
  );
  const affiliates = Affiliates.parse(
    await client.rest("/affiliates?status=active&limit=200"),
  ).data;
  return lines.map((line) => {
    const dice = createHash("sha256").update(`${options.seed} ${line.number}`).digest();
    const offer = offers[dice.readUInt16BE(0) % offers.length];
    const affiliate = affiliates[dice.readUInt16BE(2) % affiliates.length];
    if (offer === undefined || affiliate === undefined) {
      throw new Error(
        "the workspace has no active public offer or no active partner: start the service on an empty DATA_DIR",
      );
    }
    return {
      line,
      offer,
      affiliate,
      converts: dice.readUInt32BE(4) < options.share * 2 ** 32,
      saleAmount: `${dice.readUInt16BE(8) % 500}.${String(dice[10] ?? 0)
        .padStart(3, "0")
        .slice(1)}`,
    };
  });
}

/** What the contract says a conversion of this visit pays and earns, in ten-thousandths of the offer's currency. */
export function expectedMoney(visit: PlannedVisit): { payout: Amount; revenue: Amount } {
  const { offer, saleAmount } = visit;
  const sale = amountOf(saleAmount);
  const terms = {
    cpa: fixed,
    cps: percentOf,
    cpc: nothing,
    rpa: fixed,
    rps: percentOf,
    rpc: nothing,
  };
  return {
    payout: terms[offer.payout_type](sale, amountOf(offer.payout)),
    revenue: terms[offer.revenue_type](sale, amountOf(offer.revenue)),
  };
}

function fixed(_sale: Amount, rate: Amount): Amount {
  return rate;
}

/** Paid by the click: its conversions pay 0 (G43). */
function nothing(): Amount {
  return 0n;
}
