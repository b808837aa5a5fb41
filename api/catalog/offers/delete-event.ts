import { z } from "zod";
import { adminWrite } from "../../access/access-of-operations.ts";
import { deletedRecord } from "../../fields/body-fields.ts";
import { ApiError } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { eventTable, findUseOfEvent, touchOffer } from "./events.ts";
import { inTransactionWithEvent } from "./queue-offer-event.ts";
import { EventPath, getEventOfPath } from "./update-event.ts";

export const deleteEvent: Operation = operation({
  name: "deleteEvent",
  method: "DELETE",
  path: "/offers/{id}/events/{code}",
  tag: "Management",
  summary: "Delete an event",
  description: "Only if nothing uses it. The default event cannot be deleted.",
  access: adminWrite("offers.write"),
  input: { path: EventPath },
  output: z.object({ data: deletedRecord }),
  status: 200,
  failures: ["in_use"],
  findResource: getEventOfPath,
  run: async (context, { resource: { offer, event } }) => {
    if (event.is_default) throw new ApiError("in_use", "an offer needs its default event");
    await inTransactionWithEvent(context, offer.id, async (tx) => {
      if ((await eventTable.lock(tx, offer.id, event.id)) === undefined) return;
      const usedBy = await findUseOfEvent(tx, offer.id, event.code);
      if (usedBy !== undefined)
        throw new ApiError("in_use", `the event is still used by ${usedBy}`);
      await eventTable.delete(tx, offer.id, event.id);
      await touchOffer(tx, offer.id);
    });
    return { body: { data: { id: event.id, deleted: true } } };
  },
});
