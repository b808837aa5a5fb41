import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { ACCESS_STATUSES } from "../offers/offer-fields.ts";
import type { AccessRow } from "../offers/queue-access-event.ts";
import { shownAnswers } from "./access-questions.ts";

/** A partner's request for access to an offer, with its decision. */
export type AccessRequestRow = AccessRow & {
  readonly offer_id: number;
  readonly offer_code: string;
  readonly offer_name: string;
  readonly message: string;
  readonly reply: string;
  readonly answers: Readonly<Record<string, unknown>>;
};

export const ShownAccessRequest = shownSchema("access_request", {
  offer_id: z.int(),
  offer_code: z.string(),
  offer_name: z.string(),
  affiliate_id: z.int(),
  affiliate_code: z.string(),
  affiliate_name: z.string(),
  status: z.enum(ACCESS_STATUSES),
  note: z.string(),
  reply: z.string(),
  message: z.string(),
  answers: shownAnswers,
  requested_at: shownTime.nullable(),
  decided_at: shownTime.nullable(),
}).meta({ id: "AccessRequest" });
