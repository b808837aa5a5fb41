import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import {
  currency,
  flag,
  oneOf,
  recordId,
  shownCurrency,
  shownMoney,
  shownTime,
  text,
} from "../../fields/body-fields.ts";
import { recordReference } from "../../fields/catalog-fields.ts";
import { signedMoney } from "./signed-money.ts";

const REASON_MAX = 500;
export const ADJUSTMENT_KINDS = [
  "bonus",
  "deduction",
  "correction",
  "bounty",
  "opening",
  "write_off",
] as const;

export const NewAdjustment = z.strictObject({
  affiliate_id: recordReference.nullable().default(null),
  advertiser_id: recordId.nullable().default(null),
  currency,
  amount: signedMoney,
  kind: oneOf(...ADJUSTMENT_KINDS),
  reason: text(REASON_MAX).refine((value) => value.trim() !== "", "expected a reason"),
  visible: flag.default(true),
  conversion_id: z
    .string("expected a UUID")
    .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, "expected a UUID")
    .transform((id) => id.toLowerCase())
    .meta({ format: "uuid" })
    .nullable()
    .default(null),
});
export type NewAdjustment = z.infer<typeof NewAdjustment>;

export const ShownAdjustment = shownSchema("adjustment", {
  id: z.int(),
  affiliate_id: z.int().nullable(),
  affiliate_name: z.string().nullable(),
  advertiser_id: z.int().nullable(),
  advertiser_name: z.string().nullable(),
  currency: shownCurrency,
  amount: shownMoney,
  kind: z.enum(ADJUSTMENT_KINDS),
  reason: z.string(),
  visible: z.boolean(),
  conversion_id: z.string().nullable(),
  reverses_id: z.int().nullable(),
  reversed_by_id: z.int().nullable(),
  key_id: z.int().nullable(),
  person_id: z.int().nullable(),
  created_at: shownTime,
}).meta({ id: "Adjustment" });
