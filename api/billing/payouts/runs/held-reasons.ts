import type { BillingState } from "../../../../schemas/billing/billing-state.ts";
import type { PaymentRow } from "../details/payment-accounts.ts";
import type { PaymentDetails } from "../details/payment-details.ts";
import { HOLD_HOURS, holdEnd } from "../details/payment-method-fields.ts";
import { fitsFormat, type PayoutFormat } from "../exports/payout-formats.ts";

/** Why a line waits (N56). */
export const HELD_REASONS = [
  "details missing",
  "details do not fit the format",
  "partner not active",
  "tax details missing",
  "payment method changed",
] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** Reasons that nobody can release: there is nothing to pay to. */
export const FIRM_REASONS: ReadonlySet<string> = new Set<HeldReason>([
  "details missing",
  "details do not fit the format",
]);

export type Hold = { readonly reason: HeldReason; readonly until: string | null };

export type HoldQuestion = {
  readonly row: PaymentRow;
  /** Undefined if there is nothing to pay to. */
  readonly details: PaymentDetails | undefined;
  readonly currency: string;
  readonly format: PayoutFormat | null;
  readonly state: BillingState | undefined;
  readonly nowMs: number;
  /** When somebody released the line; a later change of the details holds it again. */
  readonly releasedAt: string | null;
  /** When the line was made: whoever approves has seen the details of that time. */
  readonly madeAt?: string;
};

/** Why a partner is not paid now; undefined if it may be. */
export function holdOf(asked: HoldQuestion): Hold | undefined {
  const { row, details, format, currency, state, nowMs, releasedAt, madeAt } = asked;
  if (details === undefined) return { reason: "details missing", until: null };
  if (format !== null && !fitsFormat(format, row.method, details, currency))
    return { reason: "details do not fit the format", until: null };
  const changedAt = row.changed_at;
  const hours = state?.payment_change_hold_hours ?? HOLD_HOURS;
  if (releasedAt === null || (changedAt !== null && changedAt > releasedAt)) {
    const until = holdEnd(changedAt, hours, nowMs);
    const isUnseen = changedAt !== null && madeAt !== undefined && changedAt > madeAt;
    if (until !== null || isUnseen) return { reason: "payment method changed", until };
  }
  if (releasedAt !== null) return undefined;
  if (row.status !== "active") return { reason: "partner not active", until: null };
  return needsTaxDetails(row) ? { reason: "tax details missing", until: null } : undefined;
}

/** A document that adds tax, or says that the recipient owes it, needs the partner's number. */
function needsTaxDetails({ tax_mode: mode, vat_id: vatId, tax_rate: rate }: PaymentRow): boolean {
  return vatId === "" && (mode === "reverse_charge" || (mode === "domestic" && Number(rate) > 0));
}
