import type { BillingState } from "../../../../schemas/billing/billing-state.ts";
import { type PaymentRow, UNOPENED } from "../details/payment-accounts.ts";
import type { PaymentDetails } from "../details/payment-details.ts";
import { HOLD_HOURS, holdEnd } from "../details/payment-method-fields.ts";
import { fitsFormat, type PayoutFormat } from "../details/payout-formats.ts";

/** Why a line waits (N56). */
export const HELD_REASONS = [
  "details missing",
  "details cannot be opened",
  "details do not fit the format",
  "partner not active",
  "tax details missing",
  "payment method changed",
] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** Reasons that nobody can release: there is nothing to pay to. */
export const FIRM_REASONS: ReadonlySet<string> = new Set<HeldReason>([
  "details missing",
  "details cannot be opened",
  "details do not fit the format",
]);

export type Hold = { readonly reason: HeldReason; readonly until: string | null };

export type HoldQuestion = {
  readonly row: PaymentRow;
  /** Undefined if there is nothing to pay to. */
  readonly details: PaymentDetails | typeof UNOPENED | undefined;
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
  const { row, details, format, currency, releasedAt } = asked;
  if (details === undefined) return { reason: "details missing", until: null };
  if (details === UNOPENED) return { reason: "details cannot be opened", until: null };
  if (format !== null && !fitsFormat(format, row.method, details, currency))
    return { reason: "details do not fit the format", until: null };
  const changed = changeHold(asked);
  if (changed !== undefined) return changed;
  if (releasedAt !== null) return undefined;
  if (row.status !== "active") return { reason: "partner not active", until: null };
  return needsTaxDetails(row) ? { reason: "tax details missing", until: null } : undefined;
}

/** After a change of the details, and while whoever approves has not seen it. */
function changeHold({ row, state, nowMs, releasedAt, madeAt }: HoldQuestion): Hold | undefined {
  const changedAt = row.changed_at;
  if (changedAt === null || (releasedAt !== null && changedAt <= releasedAt)) return undefined;
  const until = holdEnd(changedAt, state?.payment_change_hold_hours ?? HOLD_HOURS, nowMs);
  const isUnseen = madeAt !== undefined && changedAt > madeAt;
  return until !== null || isUnseen ? { reason: "payment method changed", until } : undefined;
}

/** A document that adds tax, or says that the recipient owes it, needs the partner's number. */
function needsTaxDetails({ tax_mode: mode, vat_id: vatId, tax_rate: rate }: PaymentRow): boolean {
  return vatId === "" && (mode === "reverse_charge" || (mode === "domestic" && Number(rate) > 0));
}
