import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { startNats } from "../../deploy/local/embedded-nats.ts";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import type { EmbeddedServer, EmbeddedServerOptions } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import type { Report } from "../../deploy/local/report.ts";
import { terminalReport } from "../../deploy/local/report.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { copyMigratedData } from "./migrated-data.ts";

const SERVERS = {
  postgres: { variable: "TEST_POSTGRES_URL", start: startPostgres },
  nats: { variable: "TEST_NATS_URL", start: startNats },
  clickhouse: { variable: "TEST_CLICKHOUSE_URL", start: startClickhouse },
} as const;
export type ServerName = keyof typeof SERVERS;
export type ServerUrls = Readonly<Record<ServerName, string>>;

/** A migrated database in Postgres and ClickHouse, which tests copy and never change. */
export type Template = { readonly template?: string | undefined };

/** The servers of a test run, by name. `stop` ends those that were started for it. */
export interface RunningServers<Name extends ServerName> {
  readonly urls: Readonly<Record<Name, string>> & Template;
  stop(): Promise<void>;
}

export interface StartServersOptions<Name extends ServerName> {
  need: readonly Name[];
  /** Start with a migrated database to copy: `urls.template`. By default all databases are empty. */
  isMigrated?: boolean;
  /** Absolute. Where they keep their data; removed by `stop`. By default a new folder on the disk. */
  folder?: string;
  /** Absolute. A file of settings for Postgres; by default Postgres has the settings of production. */
  postgresConfig?: string;
  /** By default downloads and warnings go to standard error. */
  report?: Report;
}

const BIND = "127.0.0.1";
/** A port is not reserved while its server starts; another test run may take it first. */
const START_ATTEMPTS_MAX = 3;

/**
 * The needed servers: the one at TEST_POSTGRES_URL, TEST_NATS_URL or TEST_CLICKHOUSE_URL, or else an embedded one in a new folder that
 * `stop` removes. Needs the compiled leash: run `npm run build` first.
 */
export async function startServers<Name extends ServerName>({
  need,
  isMigrated = false,
  folder,
  postgresConfig,
  report = testReport(),
}: StartServersOptions<Name>): Promise<RunningServers<Name>> {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), "tracker-test-")));
  // Databases of given servers are not ours to prepare.
  const template =
    isMigrated && !isGiven("postgres") && !isGiven("clickhouse")
      ? await migratedTemplate(dataDir, report)
      : undefined;
  const started: EmbeddedServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
    await rm(dataDir, { recursive: true, force: true });
  };
  const starts = need.map(async (name) => {
    const { variable, start } = SERVERS[name];
    const given = process.env[variable];
    if (given !== undefined && given !== "") return [name, given] as const;
    const server = await startOnFreePort(start, {
      dataDir,
      runtimeDir: runtimeDir(),
      bind: BIND,
      report,
      ...(name === "postgres" && postgresConfig !== undefined && { configFile: postgresConfig }),
    });
    started.push(server);
    return [name, server.url] as const;
  });
  const settled = await Promise.allSettled(starts);
  const fault = settled.find((one) => one.status === "rejected");
  if (fault !== undefined) {
    await stop();
    throw fault.reason;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every needed name has its address by now
  const urls = Object.fromEntries(await Promise.all(starts)) as Record<Name, string>;
  return { urls: { ...urls, template }, stop };
}

function isGiven(name: ServerName): boolean {
  return (process.env[SERVERS[name].variable] ?? "") !== "";
}

async function migratedTemplate(dataDir: string, report: Report): Promise<string | undefined> {
  const programs = { runtimeDir: runtimeDir(), report };
  return (await copyMigratedData(dataDir, ["postgres", "clickhouse"], programs))
    ? "tracker"
    : undefined;
}

/** Where downloads are kept between runs. */
export function runtimeDir(): string {
  return process.env["RUNTIME_DIR"] ?? projectFile("node_modules", ".cache", "tracker-runtime");
}

/** Prints warnings and downloads only. */
export function testReport(): Report {
  const terminal = terminalReport({
    write: (text) => void process.stderr.write(text),
    colours: false,
  });
  return {
    note: (part, text) => {
      if (part === "download") terminal.note(part, text);
    },
    warn: (part, text) => terminal.warn(part, text),
  };
}

async function startOnFreePort(
  start: (options: EmbeddedServerOptions) => Promise<EmbeddedServer>,
  options: Omit<EmbeddedServerOptions, "port">,
): Promise<EmbeddedServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start({ ...options, port: await pickPort(BIND) });
    } catch (error) {
      if (attempt >= START_ATTEMPTS_MAX) throw error;
      options.report.warn("servers", error instanceof Error ? error.message : String(error));
    }
  }
}
