/** The stateful consumers: clicks, conversions, facts, delivery and schedule. `ROLES` selects which of these roles run in this process. */
import { join } from "node:path";
import { Catalog } from "../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import { CHECKS } from "../schemas/checks/checks.ts";
import {
  exitCodeOf,
  NotDurableError,
  requireDurability,
} from "../schemas/checks/durability-watch.ts";
import { openClickhouse } from "../schemas/clickhouse/connect.ts";
import { NodeDirectory } from "../schemas/clickhouse/node-directory.ts";
import { refuseOtherClickhouse } from "../schemas/clickhouse/refuse-other.ts";
import type { Lanes } from "../schemas/events/lanes.ts";
import { Backoff } from "../schemas/host/backoff.ts";
import { Lifetime } from "../schemas/host/lifetime.ts";
import { type Log, openLog } from "../schemas/host/log.ts";
import { measureProcess } from "../schemas/host/measure-process.ts";
import { Metrics } from "../schemas/host/metrics.ts";
import { type Facts, OpsServer } from "../schemas/host/ops-server.ts";
import { settingsOrUndefined } from "../schemas/host/read-settings.ts";
import { startSystemdWatchdog } from "../schemas/host/systemd-watchdog.ts";
import { DependencyWatch } from "../schemas/host/watch-dependencies.ts";
import { Heartbeat } from "../schemas/installation/heartbeat.ts";
import { readLanes } from "../schemas/installation/lane-count.ts";
import { answerStatus } from "../schemas/installation/process-status.ts";
import { StoreWatch } from "../schemas/installation/store-watch.ts";
import { connectNats, type Nats } from "../schemas/nats/connect.ts";
import { OutgoingClient } from "../schemas/outgoing/outgoing-client.ts";
import { openPool, type Pool } from "../schemas/postgres/connect.ts";
import { isPostgresAway } from "../schemas/postgres/errors.ts";
import { systemClock } from "../schemas/time/clock.ts";
import { openTracing } from "../schemas/tracing/open-tracing.ts";
import { startClicks } from "./clicks/start.ts";
import { CapPublisher } from "./conversions/record/cap-publisher.ts";
import { startConversions } from "./conversions/start.ts";
import { postbackKind } from "./delivery/postback-kind.ts";
import { serveHtmlPostbacks } from "./delivery/serve-html.ts";
import { startDelivery } from "./delivery/start.ts";
import { webhookKind } from "./delivery/webhook-kind.ts";
import { startFacts } from "./facts/start.ts";
import { startLedger } from "./ledger/start.ts";
import type { RoleDeps } from "./role-deps.ts";
import { startSchedule } from "./schedule/start.ts";
import { type ProcessorSettings, readProcessorSettings } from "./settings.ts";

const APPLICATION_NAME = "tracker processors";
const STEADY_WAITS = { firstMs: 500, longestMs: 500 } as const;
/** Each lane of the click writer may at the same time insert, run a query, and check on an insert. */
const CLICKHOUSE_CONNECTIONS_A_LANE = 3;
const OTHER_CLICKHOUSE_CONNECTIONS = 9;

/** A delivery under way gets 10 s, a last insert 8 s. */
const CLOSE_MS = 20_000;

async function main(): Promise<void> {
  const settings = settingsOrUndefined(readProcessorSettings);
  if (settings === undefined) return;
  const log = openLog({ process: "processors", level: settings.logLevel });
  startSystemdWatchdog(log);
  const { exitWithParent: endWithParent } = settings;
  const lifetime = new Lifetime(log, { endWithParent, closeMs: CLOSE_MS });
  try {
    await start(settings, log, lifetime);
  } catch (error) {
    if (lifetime.signal.aborted) return;
    process.exitCode = exitCodeOf(error);
    if (error instanceof NotDurableError) process.stderr.write(`${error.message}\n`);
    log.fatal({ err: error }, "process.did-not-start");
    await lifetime.end("did not start");
  }
}

async function openOps(
  settings: ProcessorSettings,
  { metrics, lifetime }: { readonly metrics: Metrics; readonly lifetime: Lifetime },
): Promise<OpsServer> {
  const ops = await OpsServer.open({ ...settings.ops, role: "processors", metrics, lifetime });
  lifetime.own("operations port", () => ops.close());
  const measured = measureProcess(metrics, "processors");
  lifetime.own("process metrics", () => measured.close());
  return ops;
}

async function start(settings: ProcessorSettings, log: Log, lifetime: Lifetime): Promise<void> {
  const { roles } = settings;
  const metrics = new Metrics();
  const catalog = new Catalog();
  const connected: Connected = {};
  const ops = await openOps(settings, { metrics, lifetime });
  const facts = (): Facts => factsOf(settings, catalog, connected);
  ops.show(facts);
  log.info({ opsPort: ops.port, lanes: roles, owner: settings.clicks.owner }, "process.starting");

  const host = { identity: ops.identity, log, metrics, lifetime };
  const tracing = await openTracing(settings.tracing, host);
  const dependencies = new DependencyWatch(metrics);
  lifetime.own("dependency watch", () => dependencies.close());

  const pool = openPool({ ...settings.postgres, applicationName: APPLICATION_NAME });
  lifetime.own("postgres", () => pool.end());
  dependencies.watch("postgres", () => pool.query({ name: "ping", text: "select 1" }));
  const heartbeat = Heartbeat.start({ db: pool, process: ops.identity, log });
  lifetime.own("heartbeat", () => heartbeat.close());
  const lanes = await untilMigrated(heartbeat, pool, { log, signal: lifetime.signal });

  const nats = await untilConnected(settings, log, lifetime.signal);
  connected.nats = nats;
  answerStatus(nats, () => ops.status(), log);
  const { connection } = nats;
  lifetime.own("nats", () => connection.drain());

  const connectionsMax =
    CLICKHOUSE_CONNECTIONS_A_LANE * lanes.all.length + OTHER_CLICKHOUSE_CONNECTIONS;
  const asProcess = { applicationName: APPLICATION_NAME, connectionsMax };
  const clickhouse = openClickhouse({ ...settings.clickhouse, ...asProcess });
  lifetime.own("clickhouse", () => clickhouse.close());
  await refuseOtherClickhouse(clickhouse, log);
  dependencies.watch("nats", () => connection.rtt());
  dependencies.watch("clickhouse", async () => (await clickhouse.ping({ select: true })).success);

  const clickWriter = roles.includes("clicks") ? clickhouse : undefined;
  const { durability } = settings;
  const asked = { durability, nats: settings.nats, db: pool, clickhouse, clickWriter };
  await requireDurability(asked, { checks: CHECKS, log, metrics, lifetime });

  const watch = new StoreWatch({ pool, clickhouse, log, nats: () => nats });
  connected.watch = watch;
  declareStoreMetrics(metrics, watch);
  watch.start();
  lifetime.own("store watch", () => watch.closeLast(APPLICATION_NAME));
  await watch.untilTogether(lifetime.signal, () => {
    process.exitCode = 1;
    void lifetime.end("the stores do not belong together");
  });
  lifetime.signal.throwIfAborted();

  const copyPath = join(settings.dataDir, "processors", "catalog.jsonl");
  const feed = await CatalogFeed.start({ catalog, db: pool, log, metrics, copyPath });
  connected.feed = feed;
  lifetime.own("catalog", () => feed.close());

  const { signal } = lifetime;
  const clock = systemClock;
  const clickhouseNodes = NodeDirectory.ofCluster(settings.clickhouse, asProcess);
  const deps = { pool, nats, clickhouse, catalog, log, metrics, signal, clock, tracing };
  const roleDeps = { ...deps, catalogFeed: feed, clickhouseNodes };
  connected.clicks = startRoles(roleDeps, settings, lifetime);
  ops.started({ isReady: () => true, facts });
  log.info("process.running");
}

/** What the process has opened so far. */
type Connected = {
  nats?: Nats;
  feed?: CatalogFeed;
  watch?: StoreWatch;
  clicks?: ReturnType<typeof startClicks> | undefined;
};

/** The facts of `/status`, also while the process starts. */
function factsOf(
  { roles, clicks: { owner } }: ProcessorSettings,
  catalog: Catalog,
  { nats, feed, watch, clicks }: Connected,
): Facts {
  return {
    lanes: roles.join(","),
    owner,
    stores_belong_together: watch?.areSame ?? "unknown",
    waits_because: watch?.obstacle ?? "",
    nats: nats !== undefined && !nats.connection.isClosed(),
    catalog_version: catalog.version,
    catalog_mark: feed?.position?.mark ?? null,
    catalog_unreadable_records: feed?.unreadableRecords ?? 0,
    ...clicks?.facts(),
  };
}

/** Returns the click writer, if this process has that role. */
function startRoles(
  deps: RoleDeps & Pick<Parameters<typeof startClicks>[0], "clickhouseNodes">,
  settings: ProcessorSettings,
  lifetime: Lifetime,
): Connected["clicks"] {
  const { roles } = settings;
  if (roles.includes("facts")) {
    const facts = startFacts(deps);
    lifetime.own("facts", () => facts.close());
  }
  if (roles.includes("conversions")) {
    const outgoing = new OutgoingClient(settings.outgoing);
    lifetime.own("outgoing", () => outgoing.close());
    const conversions = startConversions({ ...deps, outgoing });
    lifetime.own("conversions", () => conversions.close());
    const capPublisher = new CapPublisher(deps);
    capPublisher.start();
    lifetime.own("cap publisher", () => capPublisher.close());
  }
  if (roles.includes("delivery")) {
    const delivery = startDeliveryRole(deps, settings);
    lifetime.own("delivery", () => delivery.close());
  }
  if (roles.includes("schedule")) {
    const schedule = startSchedule(deps, settings.schedule);
    lifetime.own("schedule", () => schedule.close());
    const ledger = startLedger(deps);
    lifetime.own("ledger", () => ledger.close());
  }
  if (!roles.includes("clicks")) return undefined;
  const clicks = startClicks(deps, settings.clicks);
  lifetime.own("clicks", () => clicks.close());
  return clicks;
}

function declareStoreMetrics(metrics: Metrics, watch: StoreWatch): void {
  metrics.gauge("incarnation_mismatch", () =>
    watch.areSame === undefined ? undefined : Number(!watch.areSame),
  );
  metrics.gauge("stores_postgres_went_back", () => watch.wentBack);
}

/** Has its own connections, so that slow destinations affect no other role. */
function startDeliveryRole(
  deps: RoleDeps,
  settings: ProcessorSettings,
): { close(): Promise<void> } {
  const outgoing = new OutgoingClient(settings.outgoing);
  const { postbackWaitsMs, webhookWaitsMs } = settings.delivery;
  const kinds = [postbackKind(postbackWaitsMs), webhookKind(webhookWaitsMs, deps.clock)];
  const worker = startDelivery({ ...deps, outgoing }, { kinds });
  const html = serveHtmlPostbacks(deps);
  return {
    close: async () => {
      await html.close();
      await worker.close();
      await outgoing.close();
    },
  };
}

/** Waits while Postgres is unavailable. Refuses a schema that this release cannot use. Returns the lanes of the installation. */
async function untilMigrated(
  heartbeat: Heartbeat,
  pool: Pool,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<Lanes> {
  const report = { log, event: "process.postgres-is-away" };
  const backoff = new Backoff({ ...STEADY_WAITS, signal, report });
  return await backoff.repeat(async () => {
    await heartbeat.enter();
    return await readLanes(pool);
  }, isPostgresAway);
}

/** Waits while NATS is unavailable. Once connected, the driver reconnects on its own. */
async function untilConnected(
  settings: ProcessorSettings,
  log: Log,
  signal: AbortSignal,
): Promise<Nats> {
  const report = { log, event: "process.nats-is-away" };
  const backoff = new Backoff({ ...STEADY_WAITS, signal, report });
  return await backoff.repeat(() =>
    connectNats({ ...settings.nats, name: APPLICATION_NAME, role: "processors" }),
  );
}

await main();
