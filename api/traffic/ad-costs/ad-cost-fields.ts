import { z } from "zod";
import { parseDay } from "../../../schemas/time/calendar.ts";
import { DAY_MS, INSTANT_MS_MAX, INSTANT_MS_MIN } from "../../../schemas/time/zone.ts";
import { shownSchema } from "../../access/visibility.ts";
import {
  count,
  currency,
  money,
  shownCurrency,
  shownDay,
  shownMoney,
  shownTime,
  text,
} from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { recordReference } from "../../fields/catalog-fields.ts";

/** Costs in one call. */
export const COSTS_MAX = 10_000;

const HOUR_MAX = 23;
/** Three of these texts are part of one unique key, and an index entry may have at most 2,704 bytes. */
const WORD_MAX = 200;

/** The same range of years as for instants. */
function isCostDay(value: string): boolean {
  const day = parseDay(value);
  return day !== undefined && day * DAY_MS >= INSTANT_MS_MIN && day * DAY_MS <= INSTANT_MS_MAX;
}

/** One row of a body. A reference that is left out, null or "" is not set: the cost belongs to no offer or to the whole day. */
export const AdCostRow = z.strictObject(
  {
    date: z
      .string("expected a date")
      .refine(isCostDay, "expected a date such as 2025-01-31, from 1970 to 2099")
      .meta({ format: "date", examples: ["2025-01-31"] }),
    hour: count({ min: 0, max: HOUR_MAX }).nullable().default(null),
    offer_id: recordReference.nullable().default(null),
    affiliate_id: recordReference.nullable().default(null),
    traffic_source: text(WORD_MAX).default(""),
    ext_campaign_id: text(WORD_MAX).default(""),
    ext_adgroup_id: text(WORD_MAX).default(""),
    currency,
    amount: money,
  },
  "expected an object",
);
export type AdCostRow = z.infer<typeof AdCostRow>;

export const LIST_OF_COSTS = {
  expected: "expected a list of costs",
  max: COSTS_MAX,
  tooMany: `expected at most ${COSTS_MAX} costs`,
};

/** A body in which no row may be wrong. */
export const StrictCosts = z.strictObject({ rows: listOf(AdCostRow, LIST_OF_COSTS) });

export const ShownAdCost = shownSchema("ad_cost", {
  id: z.int(),
  date: shownDay,
  hour: z.int().nullable(),
  offer_id: z.int().nullable(),
  affiliate_id: z.int().nullable(),
  traffic_source: z.string(),
  ext_campaign_id: z.string(),
  ext_adgroup_id: z.string(),
  currency: shownCurrency,
  amount: shownMoney,
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "AdCost" });
