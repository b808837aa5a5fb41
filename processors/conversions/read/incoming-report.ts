import type { PostbackRequest } from "../../../schemas/events/postback-request.ts";
import {
  type ConvertedFor,
  type ExchangeRate,
  findExchangeRates,
} from "../../../schemas/postgres/exchange-rates.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import { malformed, type Refusal } from "../answer/refusal.ts";
import type { UnknownClickRelay } from "../answer/unknown-click-relay.ts";
import type { Attributor } from "../attribute/attribute-click.ts";
import type { RecordQueue } from "../record/record-queue.ts";
import type { ReportKey } from "./report-key.ts";
import type { GivenMoney, Report } from "./report-params.ts";
import type { Origin } from "./resolve-target.ts";

export type ReportSources = Attributor & {
  readonly clock: Clock;
  readonly recorder: RecordQueue;
  readonly relay: UnknownClickRelay;
};

/** A report that is well formed and whose sender is known. */
export type Incoming = {
  readonly request: PostbackRequest;
  readonly report: Report;
  /** See reportFingerprint. */
  readonly fingerprint: string;
  readonly key: ReportKey | undefined;
  readonly origin: Origin;
};

/** Money that this sender may set: a payout only by the workspace's own token (G111, G159). */
export function applicableMoney({ report, origin }: Incoming): {
  money: GivenMoney;
  ignored: string[];
} {
  if (origin.sender.kind === "workspace" || report.money.payout === undefined) {
    return { money: report.money, ignored: [] };
  }
  return { money: { ...report.money, payout: undefined }, ignored: ["payout"] };
}

/** Undefined when nothing is to be converted; refused when there is no usable rate, which the details tell from a misspelling (G197, G202). */
export async function rateFor(
  sources: Pick<ReportSources, "pool">,
  { currency }: Pick<Report, "currency">,
  target: ConvertedFor & { readonly atMs: number },
): Promise<ExchangeRate | undefined | Refusal> {
  if (currency === undefined || currency === target.currency) return undefined;
  const asked = { currency, date: new Date(target.atMs).toISOString().slice(0, 10) };
  const [rate] = await findExchangeRates(sources.pool, [asked], target);
  return (
    rate ?? {
      ...malformed("invalid currency"),
      details: { reason: `no exchange rate for ${currency}` },
    }
  );
}
