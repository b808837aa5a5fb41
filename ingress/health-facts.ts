import type { Catalog } from "../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import type { Pipeline } from "./journal/pipeline.ts";
import type { IngressMetrics } from "./metrics.ts";
import type { NatsLink } from "./nats-link.ts";
import type { HealthFacts } from "./routes/health.ts";

/** The facts of `GET /health`, read at each call. */
export function healthFactsOf(sources: {
  readonly producer: number;
  readonly catalog: Catalog;
  readonly feed: CatalogFeed;
  readonly link: NatsLink;
  readonly pipeline: Pipeline;
  readonly metrics: IngressMetrics;
}): () => HealthFacts {
  const { producer, catalog, feed, link, pipeline, metrics } = sources;
  return () => ({
    ok: catalog.isLoaded && !pipeline.hasUnrecorded && !metrics.hasSyncFault(),
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
