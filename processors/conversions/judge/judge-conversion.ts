import { createHash } from "node:crypto";
import type {
  Affiliate,
  ConversionRule,
  Offer,
  Workspace,
} from "../../../schemas/catalog/records.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { ConversionStatus } from "../../../schemas/events/conversion-words.ts";
import { clickAgeMs } from "../attribute/click-age.ts";
import { findRule, type RuleFacts } from "./conversion-rules.ts";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** Reason of a conversion that waits because its partner is blocked or rejected. release_due_holds has it, too. */
export const PARTNER_BLOCKED = "rule:partner_blocked";

/**
 * The facts by which a new conversion is judged. Repeats, addresses and caps are not among them: the recording statement checks those in
 * the tables.
 */
export type Case = RuleFacts & {
  readonly conversionId: string;
  readonly offer: Offer;
  readonly affiliate: Affiliate | undefined;
  /** Checks in force: the offer's own, else the workspace's. */
  readonly fraudChecks: Workspace["fraud_checks"];
  /** Whether the sender's address is on the advertiser's list; true where the list does not apply (G184). */
  readonly isIpAllowed: boolean;
  /** Whether the address of the click brought more clicks than the check `duplicate_click_ip` allows. */
  readonly isClickIpCrowded: boolean;
  /** Active rules of the workspace, in order. */
  readonly rules: readonly ConversionRule[];
  readonly givenStatus: ConversionStatus | undefined;
};

export type Verdict = {
  readonly status: ConversionStatus;
  readonly reason: string;
  readonly holdUntilMs?: number;
  /** Which checks in the tables still apply. Neither does if the conversion is rejected before the tables are queried (G96). */
  readonly countsAddress: boolean;
  readonly countsAgainstCaps: boolean;
};

/**
 * Status and reason of a new conversion, assuming that it is no repeat and that neither its address nor a cap stops it. Checks run in
 * the fixed order of G96; the first that applies decides.
 */
export function judgeConversion(facts: Case): Verdict {
  const refusal = refusalOf(facts);
  if (refusal !== undefined) {
    const uncounted = { countsAddress: false, countsAgainstCaps: false };
    return { status: "rejected", reason: refusal, ...uncounted };
  }
  // Here, in the order of G96, the recording statement checks the address.
  const { givenStatus, offer, affiliate, rules } = facts;
  const rejecting = findRule(rules, "reject", facts);
  if (rejecting !== undefined) {
    const reason = `rule:${rejecting.name}`;
    return { status: "rejected", reason, countsAddress: true, countsAgainstCaps: false };
  }
  // Here the same statement checks the caps.
  const counted = { countsAddress: true, countsAgainstCaps: true } as const;
  if (givenStatus === "rejected") return { status: "rejected", reason: "postback", ...counted };
  if (isBlocked(affiliate)) return { status: "pending", reason: PARTNER_BLOCKED, ...counted };
  const holding = findRule(rules, "hold", facts);
  if (holding !== undefined)
    return { status: "pending", reason: `rule:${holding.name}`, ...counted };
  if (isThrottled(facts)) return { status: "pending", reason: "throttled", ...counted };
  const status = givenStatus ?? offer.default_status;
  const holdMs = holdPeriodMs(facts);
  // The end of a hold approves. So it holds only what would be approved without it (G230).
  if (status === "approved" && holdMs > 0) {
    return { status: "pending", reason: "hold", holdUntilMs: facts.convTsMs + holdMs, ...counted };
  }
  return { status, reason: "", ...counted };
}

/** Whether no conversion of the partner is approved unless staff approve it (G233). */
export function isBlocked(affiliate: Affiliate | undefined): boolean {
  return affiliate?.status === "blocked" || affiliate?.status === "rejected";
}

/** The reason to reject before the tables are queried; undefined for none. */
function refusalOf(facts: Case): string | undefined {
  const { click, offer, isIpAllowed } = facts;
  if (click?.status === "blocked") return "click_blocked";
  const ageMs = clickAgeMs(facts);
  if (ageMs !== undefined) {
    if (ageMs > offer.attribution_days * DAY_MS) return "outside_window";
    const minimumMs = offer.min_seconds_to_conversion * SECOND_MS;
    // Only with a minimum: clocks of two hosts differ, so a click may seem to be slightly in the future.
    if (minimumMs > 0 && ageMs < minimumMs) return "too_fast";
  }
  if (!isIpAllowed) return "ip_not_allowed";
  return click === undefined ? undefined : fraudOf(click, facts);
}

function fraudOf(
  click: ClickRecord,
  { fraudChecks: checks, isClickIpCrowded }: Case,
): string | undefined {
  if (checks.bot === true && click.is_bot) return "fraud:bot";
  if (checks.datacenter === true && click.is_datacenter) return "fraud:datacenter";
  if (checks.proxy_hint === true && click.is_proxy) return "fraud:proxy_hint";
  if (checks.headless === true && click.is_headless) return "fraud:headless";
  if (checks.missing_ua === true && click.missing_ua) return "fraud:missing_ua";
  if (isClickIpCrowded) return "fraud:duplicate_click_ip";
  return undefined;
}

/** Selects the partner's share of conversions for review, by the conversion id alone (G99). */
function isThrottled({ affiliate, conversionId }: Case): boolean {
  const percent = affiliate?.throttle_percent ?? 0;
  if (percent === 0) return false;
  return createHash("sha256").update(conversionId).digest().readUInt32BE(0) % 100 < percent;
}

/** The partner's own hold wins over the offer's (G98); 0 means no hold. */
function holdPeriodMs({ affiliate, offer }: Case): number {
  return Math.round(Number(affiliate?.hold_days ?? offer.hold_days) * DAY_MS);
}
