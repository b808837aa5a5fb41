/** The tracking domain: answers every click at once, journals it first, and asks the conversion processors for the rest. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { capOwnersOf } from "../schemas/catalog/cap-owners.ts";
import { Catalog } from "../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import {
  exitCodeOf,
  NotDurableError,
  requireDurability,
} from "../schemas/checks/durability-watch.ts";
import { HOST_CHECKS } from "../schemas/checks/host-checks.ts";
import { NATS_CHECKS } from "../schemas/checks/nats-checks.ts";
import { POSTGRES_CHECKS } from "../schemas/checks/postgres-checks.ts";
import type { LaneSource } from "../schemas/events/lane-source.ts";
import { Lifetime } from "../schemas/host/lifetime.ts";
import { type Log, openLog } from "../schemas/host/log.ts";
import { measureProcess } from "../schemas/host/measure-process.ts";
import { Metrics } from "../schemas/host/metrics.ts";
import { openAccessLog } from "../schemas/host/open-access-log.ts";
import { OpsServer } from "../schemas/host/ops-server.ts";
import { settingsOrUndefined } from "../schemas/host/read-settings.ts";
import { DependencyWatch } from "../schemas/host/watch-dependencies.ts";
import { ClickIdMint } from "../schemas/ids/click-id.ts";
import { areStreamsOwn } from "../schemas/installation/are-streams-own.ts";
import { Heartbeat } from "../schemas/installation/heartbeat.ts";
import { answerStatus } from "../schemas/installation/process-status.ts";
import { NatsLink } from "../schemas/nats/nats-link.ts";
import { openPool, type Pool } from "../schemas/postgres/connect.ts";
import { isPostgresAway } from "../schemas/postgres/errors.ts";
import { systemClock } from "../schemas/time/clock.ts";
import { openTracing } from "../schemas/tracing/open-tracing.ts";
import type { Tracing } from "../schemas/tracing/tracing.ts";
import { AccessNotes } from "./access-notes.ts";
import { ClickNotices } from "./click-notices/click-notices.ts";
import { StateKeeper, type StateKeeperOptions } from "./click-notices/kept-state.ts";
import { recallState } from "./click-notices/recall-state.ts";
import { takeCouponClicks } from "./coupon-clicks.ts";
import { LocalClickState } from "./decide/click-state.ts";
import { factsOf, healthOf } from "./health-facts.ts";
import { InboundLog } from "./inbound-log/inbound-log.ts";
import { inboundEvents } from "./inbound-log/metrics.ts";
import { lookAtJournal } from "./journal/look-at-journal.ts";
import { Pipeline } from "./journal/pipeline.ts";
import type { ProducerFolder } from "./journal/producer-folder.ts";
import { untilFolderIsTaken } from "./journal/until-folder-is-taken.ts";
import { declarePipelineGauges, type IngressMetrics, openIngressMetrics } from "./metrics.ts";
import { openReaders } from "./open-readers.ts";
import { openPixels, type Pixels } from "./pixels/open-pixels.ts";
import { hasPixels } from "./pixels/pixel-files.ts";
import { RedirectTraces } from "./redirect-traces.ts";
import type { Recorded } from "./route.ts";
import { readLandingScript } from "./routes/landing-script.ts";
import { ingressRoutes, type RouteDeps } from "./routes/route-table.ts";
import type { IngressServer } from "./server.ts";
import { type IngressSettings, prepareNativeServer, readIngressSettings } from "./settings.ts";

/** A start waits at most this long for Postgres to report its schema version. */
const SCHEMA_PATIENCE_MS = 2_000;
/** A start waits at most this long for NATS and for the processors behind it. */
const ANNOUNCE_MS = 1_000;
const CLOSE_SERVER_MS = 5_000;
/** Closing takes at most this long, in addition to the wait until the writers have everything. */
const CLOSE_MS = 20_000;
const POSTGRES_CONNECTIONS_MAX = 2;
/** Another process has this producer number or epoch. The supervisor restarts this process, which then gets a new number. */
const EXIT_NUMBER_TAKEN = 5;

/** The dependencies that most parts of this process share. */
type Parts = {
  readonly settings: IngressSettings;
  readonly pool: Pool;
  readonly folder: ProducerFolder;
  readonly link: NatsLink;
  readonly log: Log;
  readonly lifetime: Lifetime;
  readonly metrics: IngressMetrics;
  readonly pixels: Pixels;
  readonly tracing: Tracing | undefined;
};

async function main(): Promise<void> {
  const settings = settingsOrUndefined(readIngressSettings);
  if (settings === undefined) return;
  const log = openLog({ process: "ingress", level: settings.logLevel });
  const lifetime = new Lifetime(log, {
    endWithParent: settings.exitWithParent,
    serveOnMs: settings.serveOnMs,
    closeMs: CLOSE_MS + settings.storedMs,
  });
  try {
    await start(settings, log, lifetime);
    log.info({ port: settings.port }, "process.running");
  } catch (error) {
    if (lifetime.signal.aborted) return;
    process.exitCode = exitCodeOf(error);
    if (error instanceof NotDurableError) process.stderr.write(`${error.message}\n`);
    log.fatal({ err: error }, "process.did-not-start");
    await lifetime.end("did not start");
  }
}

async function start(settings: IngressSettings, log: Log, lifetime: Lifetime): Promise<void> {
  const registry = new Metrics();
  const { ops: address } = settings;
  const ops = await OpsServer.open({ ...address, role: "ingress", metrics: registry, lifetime });
  lifetime.own("operations port", () => ops.close());
  const measured = measureProcess(registry, "ingress");
  lifetime.own("process metrics", () => measured.close());
  log.info({ opsPort: ops.port }, "process.starting");
  const host = { identity: ops.identity, log, metrics: registry, lifetime };
  const tracing = await openTracing(settings.tracing, host);

  const pool = openPool({
    ...settings.postgres,
    applicationName: "tracker ingress",
    connectionsMax: POSTGRES_CONNECTIONS_MAX,
  });
  lifetime.own("postgres", () => pool.end());

  const heartbeat = Heartbeat.start({ db: pool, process: ops.identity, log });
  lifetime.own("heartbeat", () => heartbeat.close());
  await refuseOtherSchema(heartbeat, log);
  await refuseLossyServers(settings, pool, { log, metrics: registry, lifetime });
  const folder = await untilFolderIsTaken(join(settings.dataDir, "journal"), pool, {
    log,
    signal: lifetime.signal,
  });
  lifetime.own("journal folder", () => folder.release());

  const catalog = new Catalog();
  const feed = await followCatalog(catalog, { pool, folder, log, lifetime, registry });

  const state = new LocalClickState(catalog);
  const kept = { path: join(folder.path, "click-state.ndjson"), epoch: folder.epoch, state, log };
  // Must run before the journal's leftovers are shipped, because shipped segments are removed.
  await recallState({ ...kept, folder: folder.path, catalog });

  const link = new NatsLink(
    {
      ...settings.nats,
      name: `tracker ingress ${folder.producer}`,
      role: "ingress",
      areStreamsOwn: async (nats) => await areStreamsOwn(pool, nats),
    },
    log,
  );
  lifetime.own("nats", () => link.close());
  const dependencies = new DependencyWatch(registry);
  dependencies.watch("postgres", () => pool.query({ name: "ping", text: "select 1" }));
  dependencies.watch("nats", async () => (await link.current()?.connection.rtt()) !== undefined);
  lifetime.own("dependency watch", () => dependencies.close());

  const metrics = openIngressMetrics(log, registry);
  const pixels = openPixels({ folder: folder.path, log, registry });
  const parts: Parts = { settings, pool, folder, link, log, lifetime, metrics, pixels, tracing };
  const pipeline = openPipeline(parts, catalog);
  startLateRecords(parts, pipeline);

  const notices = startNotices(parts, { ...kept, lanes: () => catalog.lanes, journal: pipeline });

  const { producer } = folder;
  const isHealthy = healthOf({ catalog, pipeline, metrics, lifetime });
  const facts = factsOf({ producer, catalog, feed, link, pipeline, metrics }, isHealthy);
  ops.show(facts);
  const server = await makeServer(parts, { state, catalog, pipeline, isHealthy });
  link.onConnection((nats) => answerStatus(nats, () => ops.status(), log));
  void link.start();
  await untilReported(pipeline, hasCaps(catalog) ? notices.reported : Promise.resolve());
  await openPort(server, parts);
  ops.started({ isReady: () => catalog.isLoaded, facts });
}

/** Runs before the folder is taken: on a disk that forgets it, each refused start would use up a producer number. */
async function refuseLossyServers(
  { durability, nats, dataDir, journalSync }: IngressSettings,
  db: Pool,
  parts: Omit<Parameters<typeof requireDurability>[1], "checks">,
): Promise<void> {
  const journal = lookAtJournal(join(dataDir, "journal"), journalSync);
  const checks = [...NATS_CHECKS, ...POSTGRES_CHECKS, ...HOST_CHECKS];
  await requireDurability({ durability, nats, db, journal }, { ...parts, checks });
}

function openPipeline(parts: Parts, catalog: Catalog): Pipeline {
  const { settings, folder, pool, link, log, lifetime, metrics, pixels } = parts;
  const pipeline = new Pipeline({
    journalPath: join(settings.dataDir, "journal"),
    folder,
    sync: settings.journalSync,
    reserveBytes: settings.journalReserveBytes,
    storedMs: settings.storedMs,
    db: pool,
    link,
    lanes: lanesIn(catalog),
    log,
    events: metrics,
    signal: lifetime.signal,
    others: { isIn: hasPixels, takeFrom: (from) => pixels.adopt(from) },
    onNumberLeft: async () => {
      process.exitCode = EXIT_NUMBER_TAKEN;
      await lifetime.end(`producer number ${folder.producer} belongs to another process`);
    },
  });
  pipeline.start();
  lifetime.own("journal", () => pipeline.close());
  declarePipelineGauges(metrics.registry, pipeline);
  return pipeline;
}

function lanesIn(catalog: Catalog): LaneSource {
  return {
    present: () => catalog.lanes,
    routed: () => catalog.routedLanes,
    route: (lanes) => {
      catalog.routedLanes = lanes;
    },
  };
}

async function followCatalog(
  catalog: Catalog,
  parts: Pick<Parts, "pool" | "folder" | "log" | "lifetime"> & { readonly registry: Metrics },
): Promise<CatalogFeed> {
  const { pool: db, folder, log, lifetime, registry: metrics } = parts;
  const copyPath = join(folder.path, "catalog.ndjson");
  const feed = await CatalogFeed.start({ catalog, db, log, metrics, copyPath });
  lifetime.own("catalog", () => feed.close());
  return feed;
}

async function makeServer(
  parts: Parts,
  sources: Pick<RouteDeps, "state" | "catalog" | "isHealthy"> & { readonly pipeline: Pipeline },
): Promise<IngressServer> {
  const { settings, folder, link, log, lifetime, metrics, pixels, tracing } = parts;
  const { state, catalog, isHealthy, pipeline } = sources;
  const { registry } = metrics;
  const { IngressServer: Server, readMultipart } = await import("./server.ts");
  const accessLog = openAccessLog("ingress", settings.access, {
    log,
    lifetime,
    metrics: registry,
  });
  const server = new Server({
    ...ingressRoutes({
      ...(await openReaders(settings, metrics, log)),
      state,
      catalog,
      link,
      tracing,
      clock: systemClock,
      ipRequestsPerMinute: settings.ipRequestsPerMinute,
      multipart: readMultipart,
      landingScript: await readLandingScript(),
      events: metrics,
      mint: mintOf(folder, catalog),
      producer: folder.producer,
      pixels,
      inboundLog: openInboundLog(parts),
      isHealthy,
      noteRefusal: (cause) => metrics.refused(cause),
    }),
    timed: (pattern) => metrics.timed(pattern),
    record: (recorded) => pipeline.append(recorded),
    events: metrics,
    access: accessLog && new AccessNotes(accessLog, systemClock),
    traces: tracing && new RedirectTraces(tracing),
  });
  registry.gauge("ingress_connections", () => server.connections);
  const inFlight = (): number => server.inFlight;
  registry.gauge("ingress_requests_in_flight", inFlight);
  return server;
}

async function openPort(server: IngressServer, { settings, lifetime }: Parts): Promise<void> {
  // The process may have been asked to end meanwhile: its journal is closed then, and a click answered now would be lost.
  lifetime.signal.throwIfAborted();
  await server.listen(settings.bind, settings.port);
  lifetime.own("server", () => server.close(CLOSE_SERVER_MS));
  lifetime.onDrain(() => server.drain());
}

/** Late records: kept pixels, and coupon clicks that another process did not record. */
function startLateRecords(
  { link, folder: { producer }, log, lifetime, pixels, tracing }: Parts,
  pipeline: Pipeline,
): void {
  const record = (recorded: Recorded): ReturnType<Pipeline["append"]> => pipeline.append(recorded);
  pixels.start({ link, tracing, producer, record });
  takeCouponClicks({ link, producer, record, clock: systemClock, log });
  lifetime.own("pixels", () => pixels.close());
}

function startNotices(
  { link, log, folder, lifetime, metrics }: Parts,
  kept: StateKeeperOptions,
): ClickNotices {
  const keeper = new StateKeeper(kept);
  keeper.start();
  lifetime.own("click state", () => keeper.close());
  const { registry } = metrics;
  const { state } = kept;
  const { producer } = folder;
  const lanes = kept.lanes();
  const notices = new ClickNotices({ link, log, registry, state, producer, lanes });
  notices.start();
  lifetime.own("click notices", () => notices.close());
  return notices;
}

function openInboundLog({ link, log, lifetime, metrics }: Parts): InboundLog {
  const { registry } = metrics;
  const inboundLog = new InboundLog(link, inboundEvents(log, registry));
  const waiting = (): number => inboundLog.waiting;
  registry.gauge("ingress_inbound_log_waiting", waiting);
  inboundLog.start();
  lifetime.own("inbound log", () => inboundLog.close());
  return inboundLog;
}

/** Made with the first click, because its secret comes with the catalog. */
function mintOf({ producer }: ProducerFolder, catalog: Catalog): () => ClickIdMint {
  let mint: ClickIdMint | undefined;
  return () => {
    mint ??= new ClickIdMint({ producer, secret: catalog.secret, clock: systemClock });
    return mint;
  };
}

/**
 * Waits until the writers expect clicks of this process (G162), and until it knows the totals of click caps and which caps are reached:
 * usually 0.5 s, at most 1 s. Without NATS it starts with the state that the previous process saved.
 */
async function untilReported(pipeline: Pipeline, capsReported: Promise<void>): Promise<void> {
  const reported = Promise.all([pipeline.announced, capsReported]);
  await Promise.race([reported, sleep(ANNOUNCE_MS, undefined, { ref: false })]);
}

function hasCaps(catalog: Catalog): boolean {
  for (const offer of catalog.offers.values()) {
    if (capOwnersOf(catalog, offer).length > 0) return true;
  }
  return false;
}

/**
 * Refuses a schema that this release cannot use, as api and processors do. A start continues with the copy on disk when Postgres
 * does not answer (P2), and a schema that changes later does not stop a running process.
 */
async function refuseOtherSchema(heartbeat: Heartbeat, log: Log): Promise<void> {
  const checked = heartbeat.enter().catch((error: unknown) => {
    if (!isPostgresAway(error)) throw error;
    log.warn({ err: error }, "process.schema-not-confirmed");
  });
  const patience = sleep(SCHEMA_PATIENCE_MS, undefined, { ref: false });
  await Promise.race([checked, patience]);
  checked.catch((error: unknown) => {
    log.error({ err: error }, "process.schema-is-another");
  });
}

prepareNativeServer();
await main();
