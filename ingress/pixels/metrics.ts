import type { PostbackResult } from "../../schemas/events/postback-request.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { Throttle } from "../throttle.ts";

/** `full`: no more room · `disk`: the disk refused it · `unreadable`: not a pixel · `fault`: an internal fault for days. */
export type GiveUpReason = "full" | "disk" | "unreadable" | "fault";

export type PixelEvents = {
  /** The pixel is on its way to the disk; `waiting` pixels are kept, this one included. */
  kept(waiting: number): void;
  recorded(result: PostbackResult): void;
  givenUp(reason: GiveUpReason, waiting: number): void;
  diskFailed(error: unknown): void;
  damaged(bytes: number): void;
  sendFailed(error: unknown): void;
};

/** Logs numbers and reasons only: pixels may contain personal data. */
export function pixelEvents(log: Log, registry: Metrics): PixelEvents {
  const kept = registry.counter("ingress_pixels_kept_total");
  const later = registry.counter("ingress_pixels_recorded_total");
  const lost = registry.counter("ingress_pixels_given_up_total");
  const faults = registry.counter("ingress_pixel_disk_faults_total");
  const throttle = new Throttle();
  return {
    kept: (waiting) => {
      kept.add();
      throttle.note("kept", (pixels) => log.warn({ pixels, waiting }, "pixels.kept"));
    },
    recorded: (result) => later.add(1, { result }),
    givenUp: (reason, waiting) => {
      lost.add(1, { reason });
      throttle.note(reason, (pixels) => log.error({ reason, pixels, waiting }, "pixels.given-up"));
    },
    diskFailed: (error) => {
      faults.add();
      throttle.note("disk-fault", (times) =>
        log.error({ err: error, times }, "pixels.disk-failed"),
      );
    },
    damaged: (bytes) => log.error({ bytes }, "pixels.damaged"),
    sendFailed: (error) => {
      throttle.note("send", (times) => log.error({ err: error, times }, "pixels.send-failed"));
    },
  };
}
