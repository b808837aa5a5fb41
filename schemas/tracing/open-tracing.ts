import type { Lifetime } from "../host/lifetime.ts";
import type { Log } from "../host/log.ts";
import type { Metrics } from "../host/metrics.ts";
import type { ProcessIdentity } from "../host/ops-server.ts";
import type { Tracing } from "./tracing.ts";

/** OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS. */
export type TracingSettings = {
  readonly endpoint: string | undefined;
  readonly headers: string | undefined;
};

type Host = {
  readonly identity: ProcessIdentity;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lifetime: Pick<Lifetime, "own">;
};

/** Undefined without an endpoint. OpenTelemetry is loaded here and nowhere else, so a process without tracing never loads it. */
export async function openTracing(
  { endpoint, headers }: TracingSettings,
  { identity, log, metrics, lifetime }: Host,
): Promise<Tracing | undefined> {
  const dropped = metrics.counter("tracing_spans_dropped_total");
  let waiting = (): number => 0;
  metrics.gauge("tracing_spans_waiting", () => waiting());
  if (endpoint === undefined) return undefined;
  const { OtlpTracing } = await import("./otlp-tracing.ts");
  let isWarned = false;
  const tracing = new OtlpTracing({
    endpoint,
    headers,
    identity,
    events: {
      dropped: (spans, reason) => {
        dropped.add(spans);
        if (!isWarned) log.warn({ spans, reason }, "tracing.spans-dropped");
        isWarned = true;
      },
      // The next outage is worth another line.
      sent: () => {
        isWarned = false;
      },
    },
  });
  waiting = () => tracing.waiting;
  lifetime.own("tracing", () => tracing.close());
  return tracing;
}
