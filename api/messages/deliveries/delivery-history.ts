import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { type Resource, shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import type { Principal } from "../../operation/principal.ts";
import type { DeliveryRow } from "./deliveries.ts";

/** One request of a delivery and what came of it. */
export type AttemptRow = {
  readonly number: number;
  readonly sent_at: string;
  readonly duration_ms: number;
  readonly status: string;
  readonly method: string | null;
  readonly url: string;
  readonly body: string;
  readonly error: string;
  readonly response_status: number | null;
  readonly response_body: string;
};

const ShownAttempt = shownSchema("delivery_attempt", {
  number: z.int().meta({
    description:
      "Counts through retries by hand. One that is missing ended without a known result: it may have arrived",
  }),
  sent_at: shownTime,
  duration_ms: z.int().meta({ description: "Until the answer or the error, in milliseconds" }),
  status: z.enum(["delivered", "retrying", "failed"]),
  method: z
    .enum(["GET", "POST"])
    .nullable()
    .meta({ description: "null for HTML that a page carried" }),
  url: z.string().meta({ description: "As sent, up to 8,192 characters" }),
  body: z.string().meta({ description: "As sent, up to 8,192 characters" }),
  error: z.string().meta({ description: "Why the attempt failed; empty when it did not" }),
  response_status: z
    .int()
    .nullable()
    .meta({ description: "HTTP status of the answer; null if there was none" }),
  response_body: z.string().meta({ description: "The first 2 KB of the answer" }),
}).meta({ id: "DeliveryAttempt" });

/** A delivery with its attempts, in answers. */
export function shownWithHistory(Shown: z.ZodObject, id: string): z.ZodObject {
  return Shown.extend({
    history: z.array(ShownAttempt).meta({ description: "The last 50 attempts, oldest first" }),
  }).meta({ id });
}

/** The attempts of a delivery whose result is known, oldest first. The caller must have checked that the key may see the delivery. */
export async function listAttempts(db: Queryable, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>({
    name: "list-delivery-attempts",
    text: `select a.number, a.sent_at, a.duration_ms, a.status, a.method, a.url,
             coalesce(a.body, left(d.facts ->> 'body', 8192), '') as body, a.error, a.response_status, a.response_body
           from delivery_attempt a join delivery d on d.id = a.delivery_id
           where a.delivery_id = $1 order by a.number`,
    values: [deliveryId],
  });
  return rows;
}

/** A delivery with its attempts, as the role sees them. */
export function showWithHistory(
  { role }: Principal,
  resource: Resource,
  {
    delivery,
    history,
  }: { readonly delivery: DeliveryRow; readonly history: readonly AttemptRow[] },
): Record<string, unknown> {
  return {
    ...showTo(role, resource, delivery),
    history: history.map((attempt) => showTo(role, "delivery_attempt", attempt)),
  };
}
