import type { Catalog } from "../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import type { Lifetime } from "../schemas/host/lifetime.ts";
import type { Metrics } from "../schemas/host/metrics.ts";
import type { Facts } from "../schemas/host/ops-server.ts";
import type { NatsLink } from "../schemas/nats/nats-link.ts";
import type { Pipeline } from "./journal/pipeline.ts";
import type { IngressMetrics } from "./metrics.ts";

type Sources = {
  readonly producer: number;
  readonly catalog: Catalog;
  readonly feed: CatalogFeed;
  readonly link: NatsLink;
  readonly pipeline: Pipeline;
  readonly metrics: IngressMetrics;
};

/**
 * The status of `/health` on the tracking port (P6): whether clicks are decided, each click is durable somewhere, and the process does not
 * drain. A disk that has failed to sync in the last minute does not count; JetStream counts while it acknowledges.
 */
export function healthOf({
  catalog,
  pipeline,
  metrics,
  lifetime,
}: Pick<Sources, "catalog" | "pipeline" | "metrics"> & {
  readonly lifetime: Lifetime;
}): () => boolean {
  return () =>
    catalog.isLoaded &&
    !pipeline.hasUnrecorded &&
    (!metrics.hasSyncFault() || pipeline.isShipping) &&
    !lifetime.isDraining;
}

/** The facts of `/status`, read at each call. */
export function factsOf(sources: Sources, isHealthy: () => boolean): () => Facts {
  const { producer, catalog, feed, link, pipeline, metrics } = sources;
  return () => ({
    healthy: isHealthy(),
    catalog_version: catalog.version,
    catalog_mark: feed.position?.mark ?? null,
    catalog_unreadable_records: feed.unreadableRecords,
    postgres_read_at:
      feed.lastReadAtMs === undefined ? null : new Date(feed.lastReadAtMs).toISOString(),
    nats: link.current() !== undefined,
    ...recordFacts(pipeline, metrics.registry),
    ship_depth: pipeline.depth,
    journal_segments: pipeline.segments,
    ...faultFacts(metrics),
    producer,
  });
}

/** Counts are since the start of the process. */
function recordFacts(pipeline: Pipeline, registry: Metrics): Facts {
  const { lanes } = pipeline;
  return {
    records_taken: registry.sum("ingress_records_total") ?? 0,
    records_unrecorded: registry.sum("ingress_clicks_unrecorded_total") ?? 0,
    records_lost: registry.sum("ingress_records_lost_total") ?? 0,
    unstored_records: lanes.reduce((sum, { unstored }) => sum + unstored, 0),
    oldest_unstored_seconds: Math.max(0, ...lanes.map((lane) => lane.oldestUnstoredSeconds)),
    journal_bytes: pipeline.bytes,
    journal_room_bytes: roomOf(pipeline),
  };
}

/** What the disk of the journal refused since the start of the process. */
function faultFacts(metrics: IngressMetrics): Facts {
  const { registry } = metrics;
  return {
    journal_synced: !metrics.hasSyncFault(),
    journal_write_faults: registry.sum("ingress_journal_write_faults_total") ?? 0,
    journal_sync_faults: registry.sum("ingress_journal_sync_faults_total") ?? 0,
    journal_fault_seconds: metrics.secondsSinceFault() ?? null,
  };
}

/** Null when the file system does not answer. */
function roomOf(pipeline: Pipeline): number | null {
  try {
    return pipeline.roomBytes;
  } catch {
    // The journal itself logs faults of its disk.
    return null;
  }
}
