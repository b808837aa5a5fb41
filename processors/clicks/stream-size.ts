import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import { readStream, type StreamState } from "../../schemas/nats/streams.ts";

const READ_EVERY_MS = 15_000;

/** Reads the sizes of the streams of clicks for their metrics, until `signal` ends it. */
export async function watchStreamSize(
  { nats, metrics, log }: { readonly nats: Nats; readonly metrics: Metrics; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const streams = new Map<number, StreamState>();
  const gauges = (
    name: "clicks_stream_bytes" | "clicks_stream_bytes_max",
    read: (stream: StreamState) => number,
  ): void =>
    metrics.gauges(name, () =>
      [...streams].map(([group, stream]) => [{ group: String(group) }, read(stream)]),
    );
  gauges("clicks_stream_bytes", ({ bytesUsed }) => bytesUsed);
  gauges("clicks_stream_bytes_max", ({ bytes }) => bytes);
  while (!signal.aborted) {
    for (let group = 0; group < nats.groups && !signal.aborted; group += 1) {
      // Without an answer it is absent: an old size would hide that NATS is away, or the stream gone.
      streams.delete(group);
      try {
        const stream = await readStream(nats, group);
        if (stream !== undefined) streams.set(group, stream);
      } catch (error) {
        log.debug({ err: error, group }, "clicks.stream-size-unknown");
      }
    }
    await pause(READ_EVERY_MS, signal);
  }
}
