import { z } from "zod";
import { amountOf, formatAmount } from "../../../schemas/money/amount.ts";

/** Money in bodies that may be negative, and is not 0. */
export const signedMoney = z
  .string('expected a decimal string such as "-12.50"')
  .regex(
    /^-?\d{1,14}(\.\d{1,4})?$/,
    "expected a plain decimal with at most 14 digits before the point and 4 after it",
  )
  .transform((value) => formatAmount(amountOf(value)))
  .refine((value) => /[1-9]/.test(value), "expected an amount other than 0")
  .meta({ format: "decimal", examples: ["-12.50"] });
