import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import { clicksStream } from "../../schemas/nats/streams.ts";

const READ_EVERY_MS = 15_000;

/** Reads the size of the stream of clicks for its metrics, until `signal` ends it. */
export async function watchStreamSize(
  { nats, metrics, log }: { readonly nats: Nats; readonly metrics: Metrics; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  let size: { readonly bytes: number; readonly bytesMax: number } | undefined;
  metrics.gauge("clicks_stream_bytes", () => size?.bytes);
  metrics.gauge("clicks_stream_bytes_max", () => size?.bytesMax);
  while (!signal.aborted) {
    try {
      const manager = await nats.manager();
      const { state, config } = await manager.streams.info(clicksStream(nats));
      size = { bytes: state.bytes, bytesMax: config.max_bytes };
    } catch (error) {
      // NATS is away, which `dependency_up` shows: an old size would hide it.
      size = undefined;
      log.debug({ err: error }, "clicks.stream-size-unknown");
    }
    await pause(READ_EVERY_MS, signal);
  }
}
