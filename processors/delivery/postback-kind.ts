import type { DeliveryKind, Prepared } from "./delivery.ts";
import { postbackRequest } from "./postback-request.ts";
import { readPostbackSources } from "./postbacks.ts";

/** Partner postbacks. `waitsMs` is POSTBACK_RETRY_SCHEDULE, else the schedule of G126. */
export function postbackKind(waitsMs: readonly number[]): DeliveryKind {
  return {
    name: "postback",
    waitsMs,
    redirectsMax: 3,
    isRefusal: () => false,
    prepare: async (db, deliveries) => {
      const sources = await readPostbackSources(
        db,
        deliveries.map(({ id }) => id),
      );
      const prepared = new Map<string, Prepared>();
      for (const delivery of deliveries) {
        const source = sources.get(delivery.id);
        if (source !== undefined) prepared.set(delivery.id, postbackRequest(delivery, source));
      }
      return prepared;
    },
  };
}
