import { z } from "zod";
import { HOUR_MS } from "../../../../schemas/time/zone.ts";
import { shownSchema } from "../../../access/visibility.ts";
import { country, money, oneOf, orEmpty, shownTime, text } from "../../../fields/body-fields.ts";
import { maskOf, type PaymentRow, UNOPENED } from "./payment-accounts.ts";
import {
  type PaymentDetails as Details,
  PAYMENT_METHODS,
  PaymentDetails,
} from "./payment-details.ts";

const TAX_MODES = ["none", "domestic", "reverse_charge", "exempt"] as const;
const VAT_ID_MAX = 30;
const PERCENT_MAX = 100;
/** Hours that payouts wait after a change, in a workspace that has set nothing. */
export const HOLD_HOURS = 48;

const Tax = z
  .strictObject(
    {
      country: orEmpty(country).optional(),
      vat_id: text(VAT_ID_MAX).optional(),
      mode: oneOf(...TAX_MODES).optional(),
      rate: money
        .refine((rate) => Number(rate) <= PERCENT_MAX, "expected at most 100")
        .optional()
        .meta({ description: "Percent, such as `19`" }),
    },
    "expected an object",
  )
  .meta({ description: "Only the staff set `mode` and `rate`" });
export type Tax = z.output<typeof Tax>;

export const PaymentMethodBody = z.strictObject({
  payment_method: oneOf(...PAYMENT_METHODS),
  payment_details: PaymentDetails.optional().meta({
    description: "All details of the method. Left out, they stay as they are",
  }),
  tax: Tax.optional(),
});

export const ShownPaymentMethod = shownSchema("payment_method", {
  affiliate_id: z.int(),
  payment_method: z.enum(PAYMENT_METHODS),
  payment_details: z.record(z.string(), z.string()).meta({
    description: "With all but the ends of numbers left out, such as `DE89…3000`",
  }),
  has_details: z.boolean().meta({ description: "Whether there is enough to pay by the method" }),
  tax: z.strictObject({
    country: z.string(),
    vat_id: z.string(),
    mode: z.enum(TAX_MODES),
    rate: z.string().meta({ examples: ["19.0000"] }),
  }),
  changed_at: shownTime
    .nullable()
    .meta({ description: "When the method or the details last changed" }),
  held_until: shownTime
    .nullable()
    .meta({ description: "Until when payouts wait after that change; null if they do not" }),
  wallet_names: z.strictObject({ wallet_a: z.string(), wallet_b: z.string() }),
}).meta({ id: "PaymentMethod" });

/** Until when payouts wait after a change; null once that has passed. */
export function holdEnd(changedAt: string | null, hours: number, nowMs: number): string | null {
  if (changedAt === null) return null;
  const endMs = Date.parse(changedAt) + hours * HOUR_MS;
  return endMs > nowMs ? new Date(endMs).toISOString() : null;
}

/** `details`: undefined if the partner has none. Those that no key opens pay nobody either. */
export function paymentMethodOf(
  row: PaymentRow,
  details: Details | typeof UNOPENED | undefined,
  heldUntil: string | null,
  walletNames: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  return {
    affiliate_id: row.affiliate_id,
    payment_method: row.method,
    payment_details: row.masked ?? maskOf(details),
    has_details: details !== undefined && details !== UNOPENED,
    tax: {
      country: row.tax_country,
      vat_id: row.vat_id,
      mode: row.tax_mode,
      rate: row.tax_rate,
    },
    changed_at: row.changed_at,
    held_until: heldUntil,
    wallet_names: {
      wallet_a: walletNames["wallet_a"] ?? "",
      wallet_b: walletNames["wallet_b"] ?? "",
    },
  };
}
