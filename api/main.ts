import type { Server } from "node:http";
import { CHECKS } from "../schemas/checks/checks.ts";
import {
  exitCodeOf,
  NotDurableError,
  requireDurability,
} from "../schemas/checks/durability-watch.ts";
import { type Clickhouse, openClickhouse } from "../schemas/clickhouse/connect.ts";
import { refuseOtherClickhouse } from "../schemas/clickhouse/refuse-other.ts";
import type { ClickhouseServer } from "../schemas/clickhouse/server.ts";
import type { AccessLog } from "../schemas/host/access-log.ts";
import { Lifetime } from "../schemas/host/lifetime.ts";
import { type Log, openLog } from "../schemas/host/log.ts";
import { measureProcess } from "../schemas/host/measure-process.ts";
import { Metrics } from "../schemas/host/metrics.ts";
import { openAccessLog } from "../schemas/host/open-access-log.ts";
import { type Facts, OpsServer } from "../schemas/host/ops-server.ts";
import { projectFile } from "../schemas/host/project-root.ts";
import { settingsOrUndefined } from "../schemas/host/read-settings.ts";
import { startSystemdWatchdog } from "../schemas/host/systemd-watchdog.ts";
import { DependencyWatch } from "../schemas/host/watch-dependencies.ts";
import { Heartbeat } from "../schemas/installation/heartbeat.ts";
import { answerStatus } from "../schemas/installation/process-status.ts";
import { StoreWatch } from "../schemas/installation/store-watch.ts";
import { NatsLink } from "../schemas/nats/nats-link.ts";
import { OutgoingClient } from "../schemas/outgoing/outgoing-client.ts";
import { openPool, type Pool } from "../schemas/postgres/connect.ts";
import { SecretKeys } from "../schemas/secrets/secret-keys.ts";
import { openTracing } from "../schemas/tracing/open-tracing.ts";
import type { Tracing } from "../schemas/tracing/tracing.ts";
import { purgeRateWindows } from "./access/rate-limiter.ts";
import { consoleWarnings } from "./console/console-warnings.ts";
import { readConsole } from "./console/serve-console.ts";
import { CLICKHOUSE_CONNECTIONS } from "./http/slots/clickhouse-slots.ts";
import { purgeSignIns } from "./people/session-rows.ts";
import { type ApiSettings, readApiSettings } from "./settings.ts";
import { type ApiParts, startApi } from "./start-api.ts";
import { ClusterWatch } from "./workspace/system/cluster-watch.ts";
import { tlsAskStatus } from "./workspace/tls-ask/answer.ts";
import { ServedHosts } from "./workspace/tls-ask/served-hosts.ts";

const CONSOLE_BUILD = projectFile(".build", "console", "dist");
const PURGE_INTERVAL_MS = 300_000;

async function main(): Promise<void> {
  const settings = settingsOrUndefined(readApiSettings);
  if (settings === undefined) return;
  const log = openLog({ process: "api", level: settings.logLevel });
  startSystemdWatchdog(log);
  const { endWithParent, serveOnMs } = settings;
  const lifetime = new Lifetime(log, { endWithParent, serveOnMs });
  try {
    await start(settings, log, lifetime);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.fatal({ err: error }, "api.not-started");
    // One line for each violation, as the other processes write them.
    const head = error instanceof NotDurableError ? "" : "api: ";
    process.stderr.write(`${head}${reason}\n`);
    process.exitCode = exitCodeOf(error);
    await lifetime.end("could not start");
  }
}

/** Returns how to end it. */
function purgeNowAndThen(db: Pool, log: Log): () => void {
  const purge = setInterval(() => {
    purgeRateWindows(db).catch((error: unknown) =>
      log.warn({ err: error }, "rate-windows.not-purged"),
    );
    purgeSignIns(db).catch((error: unknown) => log.warn({ err: error }, "sign-ins.not-purged"));
  }, PURGE_INTERVAL_MS);
  return () => clearInterval(purge);
}

/** Each connection ends with its next answer. */
function closeAfterAnswers(server: Server): void {
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
}

async function openOps(
  settings: ApiSettings,
  log: Log,
  { metrics, lifetime }: { readonly metrics: Metrics; readonly lifetime: Lifetime },
): Promise<OpsServer> {
  const ops = await OpsServer.open({ ...settings.ops, role: "api", metrics, lifetime });
  lifetime.own("operations port", () => ops.close());
  const measured = measureProcess(metrics, "api");
  lifetime.own("process metrics", () => measured.close());
  log.info({ opsPort: ops.port }, "process.starting");
  return ops;
}

/** What notes each answer. */
async function openNotes(
  settings: ApiSettings,
  { identity }: OpsServer,
  host: { readonly log: Log; readonly metrics: Metrics; readonly lifetime: Lifetime },
): Promise<{ readonly tracing: Tracing | undefined; readonly accessLog: AccessLog | undefined }> {
  return {
    tracing: await openTracing(settings.tracing, { identity, ...host }),
    accessLog: openAccessLog("api", settings.access, host),
  };
}

/** A connection opens with its first statement. */
function openStore(server: ClickhouseServer, lifetime: Lifetime): Clickhouse {
  const applicationName = "tracker api";
  const client = openClickhouse({
    ...server,
    applicationName,
    connectionsMax: CLICKHOUSE_CONNECTIONS,
  });
  lifetime.own("clickhouse", () => client.close());
  return client;
}

async function doAllAnswer(clients: readonly Clickhouse[]): Promise<boolean> {
  const answers = await Promise.all(clients.map((one) => one.ping({ select: true })));
  return answers.every(({ success }) => success);
}

function watchStores(
  options: ConstructorParameters<typeof StoreWatch>[0],
  lifetime: Lifetime,
): StoreWatch {
  const watch = new StoreWatch(options);
  watch.start();
  lifetime.own("store watch", () => watch.close());
  return watch;
}

function openConsole(settings: ApiSettings, log: Log): NonNullable<ApiParts["console"]> {
  for (const { name, facts } of consoleWarnings(settings)) log.warn(facts, name);
  return { ...settings.console, files: readConsole(CONSOLE_BUILD) };
}

async function start(settings: ApiSettings, log: Log, lifetime: Lifetime): Promise<void> {
  const metrics = new Metrics();
  const ops = await openOps(settings, log, { metrics, lifetime });

  const notes = await openNotes(settings, ops, { log, metrics, lifetime });

  const db = openPool({ ...settings.postgres, applicationName: "tracker api" });
  lifetime.own("postgres", () => db.end());
  const dependencies = new DependencyWatch(metrics);
  dependencies.watch("postgres", () => db.query({ name: "ping", text: "select 1" }));
  lifetime.own("dependency watch", () => dependencies.close());
  db.onIdleError((error) => log.warn({ err: error }, "postgres.connection-lost"));
  const heartbeat = Heartbeat.start({ db, process: ops.identity, log });
  lifetime.own("heartbeat", () => heartbeat.close());
  await heartbeat.enter();

  const clickhouse = openStore(settings.clickhouse, lifetime);
  const reader = openStore(settings.clickhouseReader, lifetime);
  await refuseOtherClickhouse(clickhouse, log);
  const { durability } = settings;
  const asked = { durability, nats: settings.nats, db, clickhouse };
  await requireDurability(asked, { checks: CHECKS, log, metrics, lifetime });
  const nats = new NatsLink({ ...settings.nats, name: "tracker api", role: "api" }, log);
  nats.onConnection((connected) => answerStatus(connected, () => ops.status(), log));
  lifetime.own("nats", () => nats.close());
  await nats.start();
  dependencies.watch("clickhouse", async () => await doAllAnswer([clickhouse, reader]));
  dependencies.watch("nats", async () => (await nats.current()?.connection.rtt()) !== undefined);

  const outgoing = new OutgoingClient(settings.outgoing);
  lifetime.own("outgoing", () => outgoing.close());

  lifetime.own("purge", purgeNowAndThen(db, log));

  const cluster = ClusterWatch.start({ clickhouse: reader, log, metrics });
  lifetime.own("cluster watch", () => cluster.close());
  const watch = watchStores({ pool: db, clickhouse, log, nats: () => nats.current() }, lifetime);
  const stores = { db, clickhouse, nats: () => nats.current(), areStoresSame: () => watch.areSame };
  const secretKeys = new SecretKeys(settings.secretKeys);
  const app = await startApi({
    ...settings,
    ...stores,
    secretKeys,
    reader,
    ...notes,
    outgoing,
    log,
    metrics,
    allowLoopback: settings.outgoing.allowLoopback,
    console: openConsole(settings, log),
  });
  lifetime.own("listener", () => app.close());
  const address = await app.listen({ host: settings.bindAddress, port: settings.port });
  lifetime.onDrain(() => closeAfterAnswers(app.server));
  log.info({ address }, "api.listening");
  const facts = (): Facts => ({
    stores_belong_together: watch.areSame ?? "unknown",
    nats: nats.current() !== undefined,
    secret_keys: secretKeys.ids.join(" "),
  });
  const served = ServedHosts.start(db, [settings.trackingUrl, settings.apiUrl], log);
  lifetime.own("served hosts", () => served.close());
  ops.serve("/tls-ask", (query) => tlsAskStatus(served, query));
  ops.started({ isReady: () => true, facts });
}

await main();
