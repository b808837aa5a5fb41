/** What a column of the template is filled with. */
export type WiseSource =
  | "holder"
  | "amount"
  | "currency"
  | "reference"
  | "iban"
  | "bic"
  | "account_number"
  | "bank_code"
  | "country";

/**
 * Columns of a batch of Wise in 2026. The template comes from the account that sends it and may have others: then a file for it is made from
 * the plain CSV.
 */
export const WISE_2026: readonly { readonly title: string; readonly from: WiseSource }[] = [
  { title: "name", from: "holder" },
  { title: "amount", from: "amount" },
  { title: "amountCurrency", from: "currency" },
  { title: "sourceCurrency", from: "currency" },
  { title: "targetCurrency", from: "currency" },
  { title: "paymentReference", from: "reference" },
  { title: "IBAN", from: "iban" },
  { title: "BIC", from: "bic" },
  { title: "accountNumber", from: "account_number" },
  { title: "sortCode", from: "bank_code" },
  { title: "country", from: "country" },
];
