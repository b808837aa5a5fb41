/** The tracking domain: answers every click at once, journals it first, and asks the conversion processor for the rest. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { capOwnersOf } from "../schemas/catalog/cap-owners.ts";
import { Catalog } from "../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import { Backoff } from "../schemas/host/backoff.ts";
import { startHealthServer } from "../schemas/host/health-server.ts";
import { Lifetime } from "../schemas/host/lifetime.ts";
import { type Log, openLog } from "../schemas/host/log.ts";
import { Metrics } from "../schemas/host/metrics.ts";
import { settingsOrUndefined } from "../schemas/host/read-settings.ts";
import { ClickIdMint } from "../schemas/ids/click-id.ts";
import { openPool, type Pool } from "../schemas/postgres/connect.ts";
import { isPostgresAway } from "../schemas/postgres/errors.ts";
import { assertPostgresMigrated, NewerSchemaError } from "../schemas/postgres/migrate.ts";
import { systemClock } from "../schemas/time/clock.ts";
import { ClickNotices } from "./click-notices/click-notices.ts";
import { StateKeeper, type StateKeeperOptions } from "./click-notices/kept-state.ts";
import { recallState } from "./click-notices/recall-state.ts";
import { takeCouponClicks } from "./coupon-clicks.ts";
import { LocalClickState } from "./decide/click-state.ts";
import { InboundLog } from "./inbound-log/inbound-log.ts";
import { inboundEvents } from "./inbound-log/metrics.ts";
import { allocateProducer } from "./journal/allocate-producer.ts";
import { roomOn } from "./journal/disk-room.ts";
import type { Journal } from "./journal/journal.ts";
import { type ProducerFolder, takeProducerFolder } from "./journal/producer-folder.ts";
import type { Shipper } from "./journal/shipper.ts";
import { type IngressMetrics, openIngressMetrics } from "./metrics.ts";
import { NatsLink } from "./nats-link.ts";
import { type JournalParts, openJournal } from "./open-journal.ts";
import { openReaders } from "./open-readers.ts";
import { openPixels } from "./pixels/open-pixels.ts";
import type { HealthFacts } from "./routes/health.ts";
import { readLandingScript } from "./routes/landing-script.ts";
import { ingressRoutes } from "./routes/route-table.ts";
import type { IngressServer, ServerOptions } from "./server.ts";
import { type IngressSettings, prepareNativeServer, readIngressSettings } from "./settings.ts";

const STEADY_WAITS = { firstMs: 500, longestMs: 500 } as const;
/** A start waits for what Postgres says of its schema at most this long. */
const SCHEMA_PATIENCE_MS = 2_000;
/** A start waits for NATS, and for those behind it, at most this long. */
const ANNOUNCE_MS = 1_000;
const CLOSE_SERVER_MS = 5_000;
const POSTGRES_CONNECTIONS_MAX = 2;

async function main(): Promise<void> {
  const settings = settingsOrUndefined(readIngressSettings);
  if (settings === undefined) return;
  const log = openLog({ process: "ingress", level: settings.logLevel });
  const lifetime = new Lifetime(log, { endWithParent: settings.exitWithParent });
  try {
    await start(settings, log, lifetime);
    log.info({ port: settings.port }, "process.running");
  } catch (error) {
    if (lifetime.signal.aborted) return;
    process.exitCode = error instanceof NewerSchemaError ? 3 : 1;
    log.fatal({ err: error }, "process.did-not-start");
    await lifetime.end("did not start");
  }
}

async function start(settings: IngressSettings, log: Log, lifetime: Lifetime): Promise<void> {
  const pool = openPool({
    url: settings.postgresUrl,
    applicationName: "tracker ingress",
    connectionsMax: POSTGRES_CONNECTIONS_MAX,
  });
  lifetime.own("postgres", () => pool.end());

  await refuseOtherSchema(pool, log);
  const folder = await takeFolder(settings, pool, { log, signal: lifetime.signal });
  lifetime.own("journal folder", () => folder.release());

  const catalog = new Catalog();
  const registry = new Metrics();
  const feed = await followCatalog(catalog, { pool, folder, log, lifetime, registry });

  const state = new LocalClickState(catalog);
  const kept = { path: join(folder.path, "click-state.ndjson"), epoch: folder.epoch, state, log };
  // Before what is left in the journal is shipped, and removed with it.
  await recallState({ ...kept, folder: folder.path, catalog });

  const link = new NatsLink({ ...settings.nats, name: `tracker ingress ${folder.producer}` }, log);
  lifetime.own("nats", () => link.close());

  const listening: { server?: IngressServer } = {};
  const metrics: IngressMetrics = openIngressMetrics(log, registry, {
    shipDepth: () => shipper.depth,
    journalSegments: () => journal.segments.length,
    journalRoomBytes: () => roomOn(folder.path, settings.journalReserveBytes),
    asyncInFlight: () => listening.server?.inFlight ?? 0,
  });
  const pixels = openPixels({ folder: folder.path, log, registry });
  const parts = { settings, pool, folder, link, log, lifetime, metrics, pixels };
  const { journal, shipper } = openJournal(parts);
  const record: ServerOptions["record"] = (recorded) => journal.append(recorded);
  startLateRecords(parts, record);

  const notices = startNotices(parts, { ...kept, journal });

  const health = healthOf({ ...parts, catalog, feed, journal, shipper });
  await openHealthServer(parts, health);
  const { IngressServer: Server, readMultipart } = await import("./server.ts");
  const server = new Server({
    ...ingressRoutes({
      ...(await openReaders(settings, metrics)),
      state,
      catalog,
      link,
      clock: systemClock,
      ipRequestsPerMinute: settings.ipRequestsPerMinute,
      multipart: readMultipart,
      landingScript: await readLandingScript(),
      events: metrics,
      mint: mintOf(folder, catalog),
      producer: folder.producer,
      pixels,
      inboundLog: openInboundLog(parts),
      registry,
      health,
      hasFacts: settings.factsOnTrackingPort,
    }),
    record,
    events: metrics,
  });
  listening.server = server;
  link.start();
  await untilKnown(shipper, hasCaps(catalog) ? notices.heard : Promise.resolve());
  await openPort(server, parts);
}

async function followCatalog(
  catalog: Catalog,
  parts: Pick<JournalParts, "pool" | "folder" | "log" | "lifetime"> & {
    readonly registry: Metrics;
  },
): Promise<CatalogFeed> {
  const { pool: db, folder, log, lifetime, registry: metrics } = parts;
  const copyPath = join(folder.path, "catalog.ndjson");
  const feed = await CatalogFeed.start({ catalog, db, log, metrics, copyPath });
  lifetime.own("catalog", () => feed.close());
  return feed;
}

async function openPort(
  server: IngressServer,
  { settings, lifetime }: Pick<JournalParts, "settings" | "lifetime">,
): Promise<void> {
  // A process that was told to end meanwhile has closed its journal: whom it answered now would be lost.
  lifetime.signal.throwIfAborted();
  await server.listen(settings.bind, settings.port);
  lifetime.own("server", () => server.close(CLOSE_SERVER_MS));
}

async function openHealthServer(
  {
    settings: { healthPort },
    log,
    lifetime,
    metrics: { registry },
  }: Pick<JournalParts, "settings" | "log" | "lifetime" | "metrics">,
  health: () => HealthFacts,
): Promise<void> {
  if (healthPort === undefined) return;
  const server = await startHealthServer({ port: healthPort, metrics: registry, health });
  lifetime.own("health", () => server.close());
  log.info({ port: server.port }, "process.health-port");
}

/** What is recorded beside the answers of this process: kept pixels, and clicks of coupons that another one did not record. */
function startLateRecords(
  { link, folder: { producer }, log, lifetime, pixels }: JournalParts,
  record: ServerOptions["record"],
): void {
  pixels.start({ link, producer, record });
  takeCouponClicks({ link, producer, record, clock: systemClock, log });
  lifetime.own("pixels", () => pixels.close());
}

function startNotices(
  parts: Pick<JournalParts, "link" | "log" | "folder" | "lifetime" | "metrics">,
  kept: StateKeeperOptions,
): ClickNotices {
  const { link, log, folder, lifetime, metrics } = parts;
  const keeper = new StateKeeper(kept);
  keeper.start();
  lifetime.own("click state", () => keeper.close());
  const { registry } = metrics;
  const { state } = kept;
  const notices = new ClickNotices({ link, log, registry, state, producer: folder.producer });
  notices.start();
  lifetime.own("click notices", () => notices.close());
  return notices;
}

function openInboundLog({
  link,
  log,
  lifetime,
  metrics,
}: Pick<JournalParts, "link" | "log" | "lifetime" | "metrics">): InboundLog {
  const events = inboundEvents({ log, registry: metrics.registry }, () => inboundLog.waiting);
  const inboundLog: InboundLog = new InboundLog(link, events);
  inboundLog.start();
  lifetime.own("inbound log", () => inboundLog.close());
  return inboundLog;
}

/** Made with the first click: its secret comes with the catalog. */
function mintOf({ producer }: ProducerFolder, catalog: Catalog): () => ClickIdMint {
  let mint: ClickIdMint | undefined;
  return () => {
    mint ??= new ClickIdMint({ producer, secret: catalog.secret, clock: systemClock });
    return mint;
  };
}

function healthOf(parts: {
  readonly folder: ProducerFolder;
  readonly catalog: Catalog;
  readonly feed: CatalogFeed;
  readonly link: NatsLink;
  readonly journal: Journal;
  readonly shipper: Shipper;
  readonly metrics: IngressMetrics;
}): () => HealthFacts {
  const { folder, catalog, feed, link, journal, shipper, metrics } = parts;
  return () => ({
    ok: catalog.isLoaded && !shipper.hasUnrecorded && !metrics.hasSyncFault(),
    catalog_version: catalog.version,
    catalog_unreadable_records: feed.unreadableRecords,
    postgres_read_at:
      feed.lastReadAtMs === undefined ? null : new Date(feed.lastReadAtMs).toISOString(),
    nats: link.current() !== undefined,
    ship_depth: shipper.depth,
    journal_segments: journal.segments.length,
    journal_synced: !metrics.hasSyncFault(),
    producer: folder.producer,
  });
}

/**
 * Waits until the writers wait for its clicks (G162), and until it knows the totals of click caps and the caps that are reached:
 * 0.5 s, and at most 1 s. Without NATS clicks are taken with what the process before had kept.
 */
async function untilKnown(shipper: Shipper, heard: Promise<void>): Promise<void> {
  const known = Promise.all([shipper.announced, heard]);
  await Promise.race([known, sleep(ANNOUNCE_MS, undefined, { ref: false })]);
}

function hasCaps(catalog: Catalog): boolean {
  for (const offer of catalog.offers.values()) {
    if (capOwnersOf(catalog, offer).length > 0) return true;
  }
  return false;
}

/**
 * A start on an older or newer schema fails, as that of api and processors. A Postgres that does not answer keeps nobody from
 * starting on the copy on disk (P2), and a schema that changes later nobody from running.
 */
async function refuseOtherSchema(pool: Pool, log: Log): Promise<void> {
  const checked = assertPostgresMigrated(pool).catch((error: unknown) => {
    if (!isPostgresAway(error)) throw error;
    log.warn({ err: error }, "process.schema-not-confirmed");
  });
  const patience = sleep(SCHEMA_PATIENCE_MS, undefined, { ref: false });
  await Promise.race([checked, patience]);
  checked.catch((error: unknown) => {
    log.error({ err: error }, "process.schema-is-another");
  });
}

/** A folder of a former process needs nobody; the first one ever needs Postgres for its number. */
async function takeFolder(
  settings: IngressSettings,
  pool: Pool,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<ProducerFolder> {
  const path = join(settings.dataDir, "journal");
  const report = { log, event: "journal.no-folder-yet" };
  const backoff = new Backoff({ ...STEADY_WAITS, signal, report });
  return await backoff.repeat(() =>
    takeProducerFolder(path, (claim) => allocateProducer(pool, claim)),
  );
}

prepareNativeServer();
await main();
