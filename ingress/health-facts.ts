import type { Catalog } from "../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import type { Lifetime } from "../schemas/host/lifetime.ts";
import type { Facts } from "../schemas/host/ops-server.ts";
import type { Pipeline } from "./journal/pipeline.ts";
import type { IngressMetrics } from "./metrics.ts";
import type { NatsLink } from "./nats-link.ts";

type Sources = {
  readonly producer: number;
  readonly catalog: Catalog;
  readonly feed: CatalogFeed;
  readonly link: NatsLink;
  readonly pipeline: Pipeline;
  readonly metrics: IngressMetrics;
};

/** Whether clicks are decided and journaled, and the process does not drain: the status of `/health` on the tracking port (P6). */
export function healthOf({
  catalog,
  pipeline,
  metrics,
  lifetime,
}: Pick<Sources, "catalog" | "pipeline" | "metrics"> & {
  readonly lifetime: Lifetime;
}): () => boolean {
  return () =>
    catalog.isLoaded && !pipeline.hasUnrecorded && !metrics.hasSyncFault() && !lifetime.isDraining;
}

/** The facts of `/status`, read at each call. */
export function factsOf(sources: Sources, isHealthy: () => boolean): () => Facts {
  const { producer, catalog, feed, link, pipeline, metrics } = sources;
  return () => ({
    healthy: isHealthy(),
    catalog_version: catalog.version,
    catalog_unreadable_records: feed.unreadableRecords,
    postgres_read_at:
      feed.lastReadAtMs === undefined ? null : new Date(feed.lastReadAtMs).toISOString(),
    nats: link.current() !== undefined,
    ship_depth: pipeline.depth,
    journal_segments: pipeline.segments,
    journal_synced: !metrics.hasSyncFault(),
    producer,
  });
}
