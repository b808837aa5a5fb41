import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { adminWrite } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { presentFields } from "../../http/patch.ts";
import { pathEventCode, reference } from "../../http/path-fields.ts";
import { notFound, validationFailed } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { eventTable, touchOffer } from "./events.ts";
import { getOfferOfPath } from "./get-offer.ts";
import { percentFaults } from "./offer-faults.ts";
import { type EventRow, type OfferRow, PatchEventBody, ShownEvent } from "./offer-fields.ts";
import { inTransactionWithEvent } from "./queue-offer-event.ts";

/** `{id}` of an offer and `{code}` of one of its events. */
export const EventPath = z.object({ id: reference, code: pathEventCode });

/** @throws {ApiError} `not_found` for the offer or the event. */
export async function getEventOfPath(
  context: OperationContext,
  path: z.output<typeof EventPath>,
): Promise<{ readonly offer: OfferRow; readonly event: EventRow }> {
  const offer = await getOfferOfPath(context, path);
  const event = offer.events.find(({ code }) => code === path.code);
  if (event === undefined) throw notFound("event");
  return { offer, event };
}

export const updateEvent: Operation = operation({
  name: "updateEvent",
  method: "PATCH",
  path: "/offers/{id}/events/{code}",
  tag: "Management",
  summary: "Update an event",
  description: "Changes the fields in the body. The default event has the terms of its offer.",
  access: adminWrite("offers.write"),
  input: { path: EventPath, body: PatchEventBody },
  output: z.object({ data: ShownEvent }),
  status: 200,
  findResource: getEventOfPath,
  findFaults: async (_context, { body, resource: { event } }) =>
    await Promise.resolve({ ...percentFaults(body, event), ...termFaults(body, event) }),
  run: async (context, { body, resource: { offer, event } }) => {
    const { principal } = context;
    const changed = await inTransactionWithEvent(context, offer.id, async (tx) => {
      const current = await eventTable.lock(tx, offer.id, event.id);
      if (current === undefined) throw notFound("event");
      const next = { ...current, ...presentFields(body) };
      if (isDeepStrictEqual(next, current)) return current;
      // Checked again under the lock, because another request may have changed the terms in the meantime.
      const faults = percentFaults(body, current);
      if (Object.keys(faults).length > 0) throw validationFailed(faults);
      await eventTable.update(tx, offer.id, { id: event.id, values: next });
      await touchOffer(tx, offer.id);
      return next;
    });
    return { body: { data: showTo(principal.role, "event", changed) } };
  },
});

/** The default event mirrors its offer in both directions, so its terms cannot be changed here (G43). */
function termFaults(body: Readonly<Record<string, unknown>>, event: EventRow): FieldFaults {
  if (!event.is_default) return {};
  const terms = ["revenue_type", "revenue", "payout_type", "payout"] as const;
  return Object.fromEntries(
    terms
      .filter((field) => body[field] !== undefined)
      .map((field) => [field, "the default event has the terms of the offer: change them there"]),
  );
}
