import { startConversions } from "../../processors/conversions/start.ts";
import type { DeliveryKind } from "../../processors/delivery/delivery.ts";
import { postbackKind } from "../../processors/delivery/postback-kind.ts";
import { startDelivery } from "../../processors/delivery/start.ts";
import { webhookKind } from "../../processors/delivery/webhook-kind.ts";
import { Catalog } from "../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../schemas/catalog-feed/follow.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { type Stores, testLog } from "./stores.ts";

/** A catalog that follows Postgres, as every process has one. */
export type FollowedCatalog = { readonly catalog: Catalog; readonly feed: CatalogFeed };

export async function followCatalog(
  db: Queryable,
  options: { readonly metrics?: Metrics; readonly copyPath?: string } = {},
): Promise<FollowedCatalog> {
  const { metrics = new Metrics(), ...rest } = options;
  const catalog = new Catalog();
  return {
    catalog,
    feed: await CatalogFeed.start({ catalog, db, log: testLog(), metrics, ...rest }),
  };
}

type Lane = { close(): Promise<void> };

/** The conversion processor, run inside the test as processors/main.ts runs it. */
export function conversionLane(
  { pool, nats, clickhouse }: Stores,
  { catalog, feed }: FollowedCatalog,
): Lane {
  const outgoing = new OutgoingClient({ allowLoopback: false });
  const lane = startConversions({
    pool,
    nats,
    clickhouse,
    catalog,
    catalogFeed: feed,
    log: testLog(),
    metrics: new Metrics(),
    signal: new AbortController().signal,
    clock: systemClock,
    outgoing,
  });
  return closeBoth(lane, outgoing);
}

export type DeliveryOptions = {
  /** Waits between attempts; by default three short ones. */
  readonly waitsMs?: readonly number[];
  readonly allowLoopback?: boolean;
  readonly metrics?: Metrics;
  readonly signal?: AbortSignal;
  readonly kinds?: readonly DeliveryKind[];
};

/** The delivery processor, run inside the test. By default it may connect to this machine. */
export function deliveryLane({ pool }: Pick<Stores, "pool">, options: DeliveryOptions = {}): Lane {
  const { waitsMs = [50, 50, 50], allowLoopback = true, metrics = new Metrics() } = options;
  const { signal = new AbortController().signal } = options;
  const { kinds = [postbackKind(waitsMs), webhookKind(waitsMs, systemClock)] } = options;
  const outgoing = new OutgoingClient({ allowLoopback });
  const lane = startDelivery(
    {
      pool,
      outgoing,
      clock: systemClock,
      log: testLog(),
      metrics,
      signal,
    },
    { kinds },
  );
  return closeBoth(lane, outgoing);
}

function closeBoth(lane: Lane, outgoing: OutgoingClient): Lane {
  return {
    close: async () => {
      await lane.close();
      await outgoing.close();
    },
  };
}
