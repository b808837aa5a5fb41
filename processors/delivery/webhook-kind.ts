import type { Clock } from "../../schemas/time/clock.ts";
import type { DeliveryKind, Prepared } from "./delivery.ts";
import { webhookRequest } from "./webhook-request.ts";
import { readWebhookSources } from "./webhooks.ts";

const GONE = 410;

/** Webhooks (G130). `waitsMs` is WEBHOOK_RETRY_SCHEDULE, else the schedule of G126. */
export function webhookKind(waitsMs: readonly number[], clock: Clock): DeliveryKind {
  return {
    name: "webhook",
    waitsMs,
    redirectsMax: 0,
    isRefusal: (status) => status === GONE,
    prepare: async (db, deliveries) => {
      const sources = await readWebhookSources(
        db,
        deliveries.map(({ id }) => id),
      );
      const nowMs = clock.nowMs();
      const prepared = new Map<string, Prepared>();
      for (const delivery of deliveries) {
        const source = sources.get(delivery.id);
        if (source !== undefined)
          prepared.set(delivery.id, webhookRequest(delivery, source, nowMs));
      }
      return prepared;
    },
  };
}
