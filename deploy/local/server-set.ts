import { connect } from "node:net";
import { join } from "node:path";
import { askClickhouse } from "./ask-clickhouse.ts";
import { startClickhouse } from "./embedded-clickhouse.ts";
import { natsGreeting, startNats } from "./embedded-nats.ts";
import { startPostgres } from "./embedded-postgres.ts";
import type { EmbeddedServer, EmbeddedServerOptions } from "./embedded-server.ts";
import { isNewEnough } from "./nats-program.ts";
import { stablePorts } from "./ports.ts";
import { LaunchError, type Report } from "./report.ts";
import type { LauncherSettings } from "./settings.ts";
import type { Supervisor } from "./supervisor.ts";

/** The URLs of the three servers. */
export interface ServerUrls {
  postgresUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  /** The user of the system account of the embedded NATS, for `DURABILITY=strict`. */
  natsSystemUrl?: string | undefined;
  /** The user for reports of the embedded ClickHouse. */
  clickhouseReaderUrl?: string | undefined;
}

const LOOPBACK = "127.0.0.1";
const REACH_WAIT_MS = 5_000;

const EMBEDDED = {
  postgres: { setting: "postgresUrl", start: startPostgres },
  nats: { setting: "natsUrl", start: startNats },
  clickhouse: { setting: "clickhouseUrl", start: startClickhouse },
} as const;
type ServerName = keyof typeof EMBEDDED;
const SERVER_NAMES = ["postgres", "nats", "clickhouse"] as const satisfies readonly ServerName[];

/**
 * Checks whether the servers named by the settings answer.
 *
 * @throws {LaunchError} for the first one that does not.
 */
export async function reachServers(servers: LauncherSettings["servers"]): Promise<void> {
  if (servers.postgresUrl !== undefined) await reachPostgres(servers.postgresUrl);
  if (servers.natsUrl !== undefined) await reachNats(servers.natsUrl);
  if (servers.clickhouseUrl !== undefined) await reachClickhouse(servers.clickhouseUrl);
}

/**
 * The servers named by the settings, and embedded ones instead of the others, which `supervisor` keeps running.
 *
 * @throws {LaunchError} when one cannot be started.
 */
export async function openServers(
  settings: LauncherSettings,
  supervisor: Supervisor,
  report: Report,
): Promise<ServerUrls> {
  const { servers, isStrict } = settings;
  const embedded = SERVER_NAMES.filter((name) => servers[EMBEDDED[name].setting] === undefined);
  const ports = await stablePorts(embedded, {
    file: join(settings.dataDir, "ports.json"),
    host: LOOPBACK,
    others: [settings.trackingPort, settings.apiPort],
  });
  const urls: { [Name in keyof ServerUrls]: string | undefined } = { ...servers };
  let natsSystemUrl: string | undefined;
  let clickhouseReaderUrl: string | undefined;
  await supervisor.add(
    embedded.map((name) => ({
      name,
      async start(signal): Promise<EmbeddedServer> {
        const { dataDir, runtimeDir } = settings;
        const options: EmbeddedServerOptions = {
          dataDir,
          runtimeDir,
          report,
          signal,
          port: ports[name],
          bind: LOOPBACK,
        };
        const server = await EMBEDDED[name].start({ ...options, syncsAlways: isStrict });
        if (isStrict) natsSystemUrl ??= server.systemUrl;
        clickhouseReaderUrl ??= server.readerUrl;
        urls[EMBEDDED[name].setting] = server.url;
        return server;
      },
    })),
  );
  const { postgresUrl = "", natsUrl = "", clickhouseUrl = "" } = urls;
  return { postgresUrl, natsUrl, clickhouseUrl, natsSystemUrl, clickhouseReaderUrl };
}

async function reachPostgres(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const fault = await connectFault(addressOf(hostname), Number(port || 5432));
  if (fault === undefined) return;
  throw unreachable("POSTGRES_URL", hostOf(url), fault, "a Postgres");
}

/** A cluster is reachable when one of its servers is. */
async function reachNats(urls: string): Promise<void> {
  const faults: string[] = [];
  for (const url of urls.split(",").map((one) => one.trim())) {
    const { hostname, port } = new URL(url);
    const greeting = await natsGreeting(addressOf(hostname), Number(port || 4222));
    if (greeting === undefined) {
      faults.push(`${hostOf(url)} does not greet as NATS does`);
    } else if (!isNewEnough(greeting.version)) {
      faults.push(`${hostOf(url)} is NATS ${greeting.version}, 2.10 or newer is needed`);
    } else if (!greeting.jetstream) {
      faults.push(`${hostOf(url)} runs without JetStream`);
    } else {
      return;
    }
  }
  throw unreachable("NATS_URL", "it", faults.join("; "), "a NATS server with JetStream");
}

async function reachClickhouse(text: string): Promise<void> {
  const url = new URL(text);
  try {
    // This check uses plain HTTP only. Faults of https show in the first process that uses it.
    if (url.protocol === "https:") return;
    const user = decodeURIComponent(url.username) || "default";
    await askClickhouse(
      { address: url.origin, user, password: decodeURIComponent(url.password) },
      "SELECT 1",
    );
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw unreachable("CLICKHOUSE_URL", hostOf(text), fault, "a ClickHouse");
  }
}

/** A URL has an IPv6 address in brackets. */
function addressOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function connectFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (fault: string | undefined): void => {
      socket.destroy();
      resolve(fault);
    };
    socket.setTimeout(REACH_WAIT_MS, () => finish(`no answer within ${REACH_WAIT_MS / 1_000} s`));
    socket.once("connect", () => finish(undefined));
    socket.once("error", (error) => finish(error.message || String(error)));
  });
}

function unreachable(variable: string, where: string, fault: string, what: string): LaunchError {
  return new LaunchError(
    `${variable} is set, but ${where} is not usable: ${fault}. Start that server or correct the address; without ` +
      `${variable}, npm start brings ${what} of its own.`,
  );
}

/** Only host and port, because a URL may contain a user, a password and more in its query. */
function hostOf(text: string): string {
  return new URL(text).host;
}
