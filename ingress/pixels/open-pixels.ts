import type { PostbackRequest } from "../../schemas/events/postback-request.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { askConversions, type ConversionsLink } from "../ask-conversions.ts";
import { pixelEvents } from "./metrics.ts";
import { PixelShipper, type PixelShipperOptions } from "./pixel-shipper.ts";
import { PixelStore } from "./pixel-store.ts";

/** Pixels of this process that are recorded later (P15). */
export type Pixels = {
  keep(report: PostbackRequest): Promise<void>;
  /** Takes over the pixels in the folder of a dead process. The caller must hold its lock. */
  adopt(folder: string): void;
  /** Begins to send. */
  start(options: ConversionsLink & Pick<PixelShipperOptions, "producer" | "record">): void;
  close(): Promise<void>;
};

export function openPixels(options: {
  readonly folder: string;
  readonly log: Log;
  readonly registry: Metrics;
}): Pixels {
  const { folder, log, registry } = options;
  const end = new AbortController();
  const events = pixelEvents(log, registry);
  const store = new PixelStore({ folder, events });
  registry.gauge("ingress_pixels_waiting", () => store.waiting);
  registry.gauge("ingress_pixels_bytes", () => store.bytes);
  let sending: Promise<void> | undefined;
  return {
    keep: (report) => store.keep(report),
    adopt: (abandoned) => store.adopt(abandoned),
    start: ({ link, tracing, ...how }) => {
      const ask = (report: PostbackRequest) => askConversions({ link, tracing }, report);
      const shipper = new PixelShipper({ ...how, store, events, ask, clock: systemClock });
      sending = shipper.run(end.signal);
    },
    close: async () => {
      end.abort();
      await sending;
      await store.close();
    },
  };
}
