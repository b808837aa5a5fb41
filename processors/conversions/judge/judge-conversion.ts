import { createHash } from "node:crypto";
import type {
  Affiliate,
  ConversionRule,
  Offer,
  Workspace,
} from "../../../schemas/catalog/records.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { clickAgeMs } from "../attribute/click-age.ts";
import type { ConversionStatus } from "../read/report-params.ts";
import { findRule, type RuleFacts } from "./conversion-rules.ts";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** What a new conversion is judged by, besides what only the tables know: repeats, addresses and caps. */
export type Case = RuleFacts & {
  readonly conversionId: string;
  readonly offer: Offer;
  readonly affiliate: Affiliate | undefined;
  /** Checks in force: the offer's own, else the workspace's. */
  readonly fraudChecks: Workspace["fraud_checks"];
  /** Whether the sender's address is on the advertiser's list; true where the list does not count (G184). */
  readonly isIpAllowed: boolean;
  /** The address of the click brought more clicks than the check of that allows. */
  readonly isClickIpCrowded: boolean;
  /** Active rules of the workspace in their order. */
  readonly rules: readonly ConversionRule[];
  readonly givenStatus: ConversionStatus | undefined;
};

export type Verdict = {
  readonly status: ConversionStatus;
  readonly reason: string;
  readonly holdUntilMs?: number;
  /** Which checks of the tables still matter: none for what is rejected before they are asked (G96). */
  readonly countsAddress: boolean;
  readonly countsAgainstCaps: boolean;
};

/**
 * Status and reason of a new conversion if it is no repeat and neither its address nor a cap stops it, by the fixed order of
 * G96: the first that applies decides.
 */
export function judgeConversion(facts: Case): Verdict {
  const refusal = refusalOf(facts);
  if (refusal !== undefined) {
    const uncounted = { countsAddress: false, countsAgainstCaps: false };
    return { status: "rejected", reason: refusal, ...uncounted };
  }
  // Addresses are asked here, by the statement that records.
  const { givenStatus, offer, rules } = facts;
  const rejecting = findRule(rules, "reject", facts);
  if (rejecting !== undefined) {
    const reason = `rule:${rejecting.name}`;
    return { status: "rejected", reason, countsAddress: true, countsAgainstCaps: false };
  }
  // Caps are asked here, by the same statement.
  const counted = { countsAddress: true, countsAgainstCaps: true } as const;
  if (givenStatus === "rejected") return { status: "rejected", reason: "postback", ...counted };
  const holding = findRule(rules, "hold", facts);
  if (holding !== undefined)
    return { status: "pending", reason: `rule:${holding.name}`, ...counted };
  if (isThrottled(facts)) return { status: "pending", reason: "throttled", ...counted };
  const holdMs = holdPeriodMs(facts);
  if (holdMs > 0) {
    return { status: "pending", reason: "hold", holdUntilMs: facts.convTsMs + holdMs, ...counted };
  }
  return { status: givenStatus ?? offer.default_status, reason: "", ...counted };
}

/** The reason to reject before the tables are asked; undefined for none. */
function refusalOf(facts: Case): string | undefined {
  const { click, offer, isIpAllowed } = facts;
  if (click?.status === "blocked") return "click_blocked";
  const ageMs = clickAgeMs(facts);
  if (ageMs !== undefined) {
    if (ageMs > offer.attribution_days * DAY_MS) return "outside_window";
    const minimumMs = offer.min_seconds_to_conversion * SECOND_MS;
    // Without a minimum a click may seem to lie ahead: two hosts never have quite the same time.
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

/** The share of a partner's conversions that goes to review, chosen by the id alone (G99). */
function isThrottled({ affiliate, conversionId }: Case): boolean {
  const percent = affiliate?.throttle_percent ?? 0;
  if (percent === 0) return false;
  return createHash("sha256").update(conversionId).digest().readUInt32BE(0) % 100 < percent;
}

/** The partner's own period goes before the offer's (G98); its zero means no hold. */
function holdPeriodMs({ affiliate, offer }: Case): number {
  return Math.round(Number(affiliate?.hold_days ?? offer.hold_days) * DAY_MS);
}
