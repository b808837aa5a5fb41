import type { Notes } from "./notes.ts";

const OF_RUN: Notes = {
  status:
    "`draft` until it is approved, then `approved`; `paid` once every line has ended and one is paid, `failed` if none is; `cancelled`: taken back",
  currency: "ISO 4217 code of every line",
  methods: "Ways to be paid that it is for; empty for every one",
  format: "The file that it is for; null for any",
  due_until: "It pays statements that are due on this day or before",
  execution_date: "Day on which the bank should pay",
  held_total: "Sum of the held lines",
  line_count: "Number of lines, without held lines",
  held_count: "Number of held lines",
  paid_count: "Number of lines that are paid",
  failed_count: "Number of lines that failed or came back",
  created_by: "Name of the key or person that made it",
  approved_by: "Name of the key or person that approved it; empty before",
  created_at: "When it was made",
  approved_at: "When it was approved; null before",
  ended_at: "When it was settled or cancelled; null before",
  lines: "Lines that are paid with the run",
};

const OF_LINE: Notes = {
  run_id: "The run that it is in",
  affiliate_id: "The partner",
  affiliate_code: "Code of the partner",
  affiliate_name: "Name of the partner",
  method: "How the partner is paid",
  currency: "ISO 4217 code of the amount",
  amount: "What is paid: the sum of its statements with tax",
  statement_ids: "The statements that it pays",
  status:
    "`pending` until a result is known, then `paid`, `failed` or `returned`; `held`: not paid with this run",
  released_at: "When the staff let the held line go; null if nobody did",
  release_reason: "Why the staff let it go; empty if nobody did",
  fee: "What the bank or service took for it; null if that is not known",
  error: "Why it failed or came back, as the bank or service says; empty otherwise",
  execution_date: "Day on which the bank should pay",
};

function notesOf(owners: readonly string[], notes: Notes): [string, string][] {
  return owners.flatMap((owner) =>
    Object.entries(notes).map(([field, note]): [string, string] => [`${owner}.${field}`, note]),
  );
}

export const PAYOUT_NOTES: Notes = {
  ...Object.fromEntries([
    ...notesOf(["PayoutRun", "PayoutRunSummary"], OF_RUN),
    ...notesOf(["PayoutLine", "PayoutDueLine"], OF_LINE),
  ]),
  "payment_details.bic": "BIC of the bank; needed by few banks beside an IBAN",
  "payment_details.bank_name": "Name of the bank",
  "tax.vat_id": "VAT number of the partner; empty without one",
  "PaymentMethod.tax": "How the partner is taxed",
  "PostalAddress.street": "Street and number; empty if unknown",
  "PostalAddress.postcode": "Postal code; empty if unknown",
  "PostalAddress.town": "Town",
  "previewPayoutRun.data.due_until": "Day until which statements are due",
  "previewPayoutRun.data.held_total": "Sum of the lines that would be held",
  "previewPayoutRun.data.lines": "Lines that would be paid",
  "previewPayoutRun.data.held": "Lines that would be held, with the reason",
  "setPayoutResults.rows.reference": "Reference of the line",
  "setPayoutResults.rows.status": "What became of the payment",
  "setPayoutResults.rows.external_id": "What the bank or service calls the payment",
  "setPayoutResults.rows.fee": "What the bank or service took for it; noted, not posted",
  "setPayoutResults.data.applied": "Rows that changed their line",
  "setPayoutResults.data.unchanged": "Rows that were known already",
  "previewPayoutRun.?format": "The file that the run would be for",
};
