import type { Notes } from "./notes.ts";

const SETTINGS: Notes = {
  "BillingSettings.enabled": "Whether conversions, clicks and adjustments are posted",
  starts_on:
    "Conversions created since this day of the workspace are posted; it stays once something is posted",
  "BillingSettings.has_entries": "Whether something is posted, so that `starts_on` stays",
  legal: "The network as it stands on statements and invoices",
  "legal.name": "Legal name",
  "legal.address": "Address, with line breaks",
  "legal.vat_id": "VAT number",
  "legal.iban": "IBAN that advertisers pay to and partners are paid from; may be empty",
  "legal.bic": "BIC of the bank of the IBAN; may be empty",
  approval:
    "`single`: one admin approves · `four_eyes`: another admin than who prepared the payments",
  auto_approve: "Whether statements are approved by themselves",
  statement_prefix:
    "What stands before the number of a statement; `{year}` is the year of the statement",
  invoice_prefix:
    "What stands before the number of an invoice; `{year}` is the year of the invoice",
  period_grace_hours: "Hours from the end of a period until it is closed, 0 to 168",
  payment_change_hold_hours:
    "Hours for which payments wait after a partner has changed how it is paid, 0 to 720",
  wallet_names: "Names of two ways of payment that you define",
  "wallet_names.wallet_a": "Name of `wallet_a`; empty if it is not used",
  "wallet_names.wallet_b": "Name of `wallet_b`; empty if it is not used",
  default_tax_text: "Text on documents beside tax",
  language: "Language of documents, two letters of ISO 639",
  payout_currency: "`offer`: partners are paid in the currency that they earned",
  audited_at: "When the books were audited",
  violations: "What contradicts the invariants of the books",
  "BillingSettings.audited_at": "When the books were last audited; null for never",
  "BillingSettings.violations":
    "How many faults the last audit has found; while there is one, nothing is approved",
  "BillingSettings.updated_at": "When the settings were last changed; null for never",
  "updateBillingSettings.enabled": "Whether conversions, clicks and adjustments are posted",
};

const ADJUSTMENTS: Notes = {
  "createAdjustment.affiliate_id": "The partner, by id or code; either this or `advertiser_id`",
  "createAdjustment.advertiser_id": "The advertiser; either this or `affiliate_id`",
  "createAdjustment.currency": "ISO 4217 code of the account that is corrected",
  "createAdjustment.amount":
    "Positive: the partner gets more, or the advertiser owes more. Negative: less. Not 0",
  "createAdjustment.kind":
    "Why: `opening` is what was open before billing began, `write_off` ends a partner's balance below 0",
  "createAdjustment.reason": "What the account reads, 1 to 500 characters",
  "createAdjustment.conversion_id": "The conversion that it is about, one of this account",
  "Adjustment.affiliate_id": "The partner; null for an advertiser's",
  "Adjustment.affiliate_name": "Name of the partner",
  "Adjustment.advertiser_id": "The advertiser; null for a partner's",
  "Adjustment.advertiser_name": "Name of the advertiser",
  "Adjustment.amount":
    "Positive: the partner gets more, or the advertiser owes more. Negative: less",
  "Adjustment.kind":
    "Why: `opening` is what was open before billing began, `write_off` ends a partner's balance below 0",
  "Adjustment.reason": "What the account reads",
  visible: "Whether the partner or the advertiser sees it in its own list",
  "Adjustment.conversion_id": "The conversion that it is about; null for none",
  "Adjustment.reverses_id": "The adjustment that it takes back; null for none",
  reversed_by_id: "The adjustment that takes it back; null for none",
  "Adjustment.key_id": "The key that made it; null for a person",
  "Adjustment.person_id": "The person who made it; null for a key",
  "?kind": "Kind of the adjustment",
};

const BOOKS: Notes = {
  "LedgerEntry.id": "The account and `seq`",
  "LedgerEntry.account": "Kind of the account",
  "LedgerEntry.owner_id": "The partner or the advertiser; 0 for an account of the network",
  "LedgerEntry.owner_name": "Name of the partner or the advertiser; null for the network",
  seq: "1, 2, 3 … for each account, without a gap",
  "LedgerEntry.amount": "Debits are positive, credits negative",
  posted_at: "When it was posted; it never falls along the entries of an account",
  "LedgerEntry.kind": "What was posted: a conversion, a day of clicks, an adjustment, a payment",
  transaction_id: "The transaction, whose entries add up to 0 in each currency",
  source_kind: "With `source_id` the fact that is posted; a fact is posted once",
  source_id: "Which fact",
  "LedgerEntry.description": "A few words about it",
  "LedgerEntry.reverses_id": "The transaction that it takes back; null for none",
  "LedgerEntry.key_id": "The key that caused it; null for none",
  "LedgerEntry.person_id": "The person who caused it; null for none",
  "LedgerEntry.conversion_id": "The conversion; null for none",
  "LedgerEntry.offer_id": "The offer; null for none",
  "LedgerEntry.event_code": "Code of the event; null for none",
  "LedgerEntry.count":
    "How many conversions or clicks it is; negative where they are taken back, 0 where only an amount changes",
  "violations.invariant": "Which invariant: I1 to I8",
  "violations.subject": "What was looked at",
  "violations.expected": "What the invariant says",
  "violations.found": "What is stored",
  "Change.at": "When it was changed",
  resource: "What was changed, as in its path, such as `billing-settings`",
  resource_id: "Id of the record; empty for settings of the workspace",
  "Change.key_id": "The key that changed it; null for a person",
  "Change.person_id": "The person who changed it; null for a key",
  "Change.address": "Where the request came from; null if it is not known",
  "Change.before": "The fields that changed, as they were",
  "Change.after": "The same fields, as they are since",
  "UnpostedChange.at": "When the conversion changed",
  "UnpostedChange.from_status": "Status before; null if the conversion was new",
  "UnpostedChange.from_payout": "Payout before; null if the conversion was new",
  "UnpostedChange.to_payout": "Payout after",
  "UnpostedChange.from_revenue": "Revenue before; null if the conversion was new",
  "UnpostedChange.to_revenue": "Revenue after",
};

const BALANCES: Notes = {
  "Balance.id": "The owner and the currency",
  "Balance.kind": "Whose balance",
  "Balance.owner_id": "The partner or the advertiser",
  "Balance.owner_name": "Its name",
  "Balance.pending": "Of conversions that are pending now; not in the balance",
  balance: "What a partner is owed, or what an advertiser owes",
  unbilled: "What no statement or invoice has yet",
  carried: "What the last statement or invoice left for the next",
  draft: "On statements or invoices that are not approved",
  approved_unpaid: "On approved statements that no payout run has taken; null for an advertiser",
  in_payout: "On statements in a payout run; null for an advertiser",
  invoiced_open: "On invoices, and not paid; null for a partner",
  unallocated: "Paid, and on no invoice yet; null for a partner",
  paid_total: "All that was ever paid",
  "Earnings.pending": "Of conversions that still wait for a decision",
  "Earnings.approved":
    "Approved, and not paid; without billing, of the approved conversions since `approved_since`",
  "Earnings.approved_since":
    "Without billing, the conversions since then are in `approved`; null with billing, where it is everything",
  "Earnings.unbilled": "Approved, and on no statement yet",
  "Earnings.carried":
    "What the last statement left for the next, such as an amount below the minimum",
  "Earnings.draft": "On statements that the network has not approved",
  "Earnings.approved_unpaid": "On approved statements that are not being paid yet",
  "Earnings.in_payout": "On statements that are being paid",
  "Earnings.paid_total": "All that was ever paid to you",
  next_period_end:
    "When the present period ends and its statement is made; null for terms without periods",
  "OwnBilling.pending": "Of conversions that still wait for a decision",
  "OwnBilling.balance": "What you owe the network",
  "OwnBilling.unbilled": "Owed, and on no invoice yet",
  "OwnBilling.carried": "What the last invoice left for the next",
  "OwnBilling.invoiced_open": "On invoices, and not paid",
  "OwnBilling.unallocated": "Paid, and on no invoice yet",
  "OwnBilling.paid_total": "All that you ever paid",
};

/** Settings of billing, adjustments, the ledger and balances. */
export const LEDGER_NOTES: Notes = { ...SETTINGS, ...ADJUSTMENTS, ...BOOKS, ...BALANCES };
