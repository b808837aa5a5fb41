import type { components } from "../../../../../.build/console/openapi.ts";
import type { Choice } from "../../client/choices.ts";

export type PayoutRun = components["schemas"]["PayoutRun"];
export type PayoutRunSummary = components["schemas"]["PayoutRunSummary"];
export type PayoutLine = components["schemas"]["PayoutLine"];
export type PayoutDueLine = components["schemas"]["PayoutDueLine"];
export type PaymentMethod = components["schemas"]["PaymentMethod"];
export type Method = PaymentMethod["payment_method"];

/** Keys of answers that change with every write about payouts. */
export const PAYOUT_NAMES = [
  "payout-runs",
  "payout-run",
  "payout-due",
  "statements",
  "statement",
  "balances",
  "ledger",
];

const METHODS: readonly (readonly [Method, string])[] = [
  ["wire", "Bank transfer"],
  ["wallet_a", "Wallet A"],
  ["wallet_b", "Wallet B"],
  ["crypto", "Crypto"],
  ["other", "Another way"],
];

/** Ways to pay in words, where the workspace has named its wallets. */
export function methodChoices(names: Partial<Record<Method, string>> = {}): readonly Choice[] {
  return METHODS.map(([method, words]): Choice => [method, names[method] || words]);
}

/** @returns undefined for a text that is no method. */
export function methodOf(text: string): Method | undefined {
  return METHODS.find(([one]) => one === text)?.[0];
}

/** Files of a run: the format, its name, and the ending of the file. */
export const FORMATS = [
  ["csv", "CSV", "csv"],
  ["pain001", "SEPA transfers", "xml"],
  ["paypal_csv", "PayPal", "csv"],
  ["wise_csv", "Wise", "csv"],
] as const;
export type FileFormat = (typeof FORMATS)[number];

/** @returns undefined for a text that is no format. */
export function formatOf(text: string | null): FileFormat | undefined {
  return FORMATS.find(([one]) => one === text);
}

const DETAILS: Readonly<Record<string, string>> = {
  holder: "Account holder",
  iban: "IBAN",
  bic: "BIC",
  account_number: "Account number",
  bank_code: "Bank code",
  bank_country: "Country of the bank",
  bank_name: "Bank",
  address: "Address",
  account: "Account",
  network: "Network",
  note: "How to pay",
};

/** Masked details by the names that a person reads. */
export function detailFacts(
  details: Readonly<Record<string, string>> = {},
): readonly (readonly [string, string])[] {
  return Object.entries(details).map(([name, value]) => [DETAILS[name] ?? name, value]);
}

/** The detail that tells one account from another. */
export function accountText({ details = {} }: Pick<PayoutLine, "details">): string {
  const { iban, account_number: number, account, address, note } = details;
  return iban ?? number ?? account ?? address ?? note ?? "";
}

const HELD: Readonly<Record<NonNullable<PayoutLine["reason"]>, string>> = {
  "details missing": "No payment details to pay to",
  "details cannot be opened": "The key that sealed the payment details is missing",
  "details do not fit the format": "The payment details do not fit the file",
  "partner not active": "The partner is not active",
  "tax details missing": "The VAT number is missing",
  "payment method changed": "The payment details were changed",
};

export function heldWords(reason: PayoutLine["reason"]): string {
  return reason === null || reason === undefined ? "" : HELD[reason];
}

const FIRM: ReadonlySet<string> = new Set<NonNullable<PayoutLine["reason"]>>([
  "details missing",
  "details cannot be opened",
  "details do not fit the format",
]);

/** Whether somebody may release a line that is held for this reason: with nothing to pay to, nobody can. */
export function isReleasable({ reason }: Pick<PayoutLine, "reason">): boolean {
  return !FIRM.has(reason ?? "");
}
