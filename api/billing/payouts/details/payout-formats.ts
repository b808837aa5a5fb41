import type { PaymentDetails, PaymentMethod } from "./payment-details.ts";
import { isSepaName } from "./sepa-text.ts";

/** Files of a run (N54). */
export const PAYOUT_FORMATS = ["csv", "paypal_csv", "pain001", "wise_csv"] as const;
export type PayoutFormat = (typeof PAYOUT_FORMATS)[number];

/** Whether a line with these details can be in a file of the format. */
export function fitsFormat(
  format: PayoutFormat,
  method: PaymentMethod,
  details: PaymentDetails,
  currency: string,
): boolean {
  switch (format) {
    case "csv":
      return true;
    case "paypal_csv":
      return (method === "wallet_a" || method === "wallet_b") && details.account !== undefined;
    case "pain001":
      return (
        method === "wire" &&
        currency === "EUR" &&
        details.iban !== undefined &&
        isSepaName(details.holder ?? "")
      );
    case "wise_csv":
      return (
        method === "wire" && (details.iban !== undefined || details.account_number !== undefined)
      );
  }
}
