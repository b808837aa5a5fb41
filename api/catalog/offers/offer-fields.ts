import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { givenCode } from "../../fields/catalog-fields.ts";
import { EVENT } from "../../fields/event.ts";
import { bodyShape, requiredShape, shownShape } from "../../fields/field.ts";
import { OFFER } from "../../fields/offer.ts";

const EVENTS_MAX = 100;

export const ACCESS_STATUSES = ["approved", "pending", "rejected"] as const;

export const EventBody = z.strictObject(bodyShape(EVENT)).partial().extend(requiredShape(EVENT));

/** PATCH of an event accepts every field except the code. */
export const PatchEventBody = EventBody.omit({ code: true });
export type PatchEventBody = z.infer<typeof PatchEventBody>;

/** POST also accepts code and events (OFF-027, OFF-028). */
export const PatchOfferBody = z.strictObject(bodyShape(OFFER)).partial();
export type PatchOfferBody = z.infer<typeof PatchOfferBody>;

export const CreateOfferBody = PatchOfferBody.extend({
  ...requiredShape(OFFER),
  code: givenCode.optional(),
  events: listOf(EventBody, {
    expected: "expected a list of events",
    max: EVENTS_MAX,
    tooMany: `expected at most ${EVENTS_MAX} events`,
  }).optional(),
});
export type CreateOfferBody = z.infer<typeof CreateOfferBody>;
export type EventBody = z.infer<typeof EventBody>;

const shownEvent = { id: z.int(), ...shownShape(EVENT), is_default: z.boolean() };
/** An event as stored. */
export type EventRow = Readonly<z.output<z.ZodObject<typeof shownEvent>>>;
export const ShownEvent = shownSchema("event", shownEvent).meta({ id: "Event" });

/** Columns of an offer that answers show. */
const shownColumns = {
  id: z.int(),
  code: z.string(),
  ...shownShape(OFFER),
  created_at: shownTime,
  updated_at: shownTime,
};
/** Columns that are read with an offer. */
export const storedColumns = { ...shownColumns, pass_parameters: OFFER.pass_parameters.body };
/** An offer as stored, with its events, the default one first. */
export type OfferRow = Readonly<z.output<z.ZodObject<typeof storedColumns>>> & {
  readonly events: readonly EventRow[];
};
export const ShownOffer = shownSchema("offer", {
  ...shownColumns,
  events: z.array(ShownEvent),
  access_status: z.enum(ACCESS_STATUSES).nullable(),
  can_run: z.boolean(),
  tracking_link: z.string(),
}).meta({ id: "Offer" });

/** The answer to a write: the offer, and what is probably wrong with a destination in the body (G245). */
export const WrittenOffer = z.object({
  data: ShownOffer,
  warnings: z.array(z.string()).optional(),
});
export const WARNS =
  "If the body has a `destination_url`, `warnings` says what is probably wrong with its macros; without a warning it is left out.";

export const ShownPartnerAccess = z
  .strictObject({
    affiliate_id: z.int(),
    affiliate_code: z.string(),
    affiliate_name: z.string(),
    status: z.enum(ACCESS_STATUSES),
    note: z.string(),
    requested_at: shownTime.nullable(),
    decided_at: shownTime.nullable(),
  })
  .meta({ id: "PartnerAccess" });
