import { z } from "zod";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { conflict } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { withEventDefaults } from "./create-offer.ts";
import { eventTable, touchOffer } from "./events.ts";
import { getOfferOfPath, OfferPath } from "./get-offer.ts";
import { percentFaults } from "./offer-faults.ts";
import { EventBody, ShownEvent } from "./offer-fields.ts";
import { inTransactionWithEvent } from "./queue-offer-event.ts";

export const createEvent: Operation = operation({
  name: "createEvent",
  method: "POST",
  path: "/offers/{id}/events",
  tag: "Offers",
  summary: "Create an event",
  description: "Adds an event (goal) to an offer.",
  access: adminWrite("offers.write"),
  input: { path: OfferPath, body: EventBody },
  output: z.object({ data: ShownEvent }),
  status: 201,
  failures: ["conflict"],
  findResource: getOfferOfPath,
  findFaults: async (_context, { body }) =>
    await Promise.resolve(percentFaults(body, { payout_type: "cpa", revenue_type: "rpa" })),
  run: async (context, { body, resource }) => {
    const { principal } = context;
    try {
      const event = await inTransactionWithEvent(context, resource.id, async (tx) => {
        await touchOffer(tx, resource.id);
        return await eventTable.insert(tx, resource.id, withEventDefaults(body));
      });
      return { body: { data: showTo(principal.role, "event", event) } };
    } catch (error) {
      if (violatedConstraint(error) !== "offer_event_offer_id_code_key") throw error;
      throw conflict("code", "the offer has an event with this code");
    }
  },
});
