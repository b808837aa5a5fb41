import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { askClickhouse, type ClickhouseAccess } from "./ask-clickhouse.ts";
import { prepareChildFolders, processRecordFile, startChild } from "./child.ts";
import { type ClickhouseEngineOrder, ENGINE_LINES, programFile } from "./child-programs.ts";
import { clickhouseConfig, clickhouseMemoryBytesMax } from "./clickhouse-config.ts";
import { type ClickhouseLogin, clickhouseUsers } from "./clickhouse-users.ts";
import { lastLinesOf } from "./command-output.ts";
import type { EmbeddedServer, EmbeddedServerOptions } from "./embedded-server.ts";
import { storedSecret } from "./kept-files.ts";
import { awaitReady } from "./leashed-server.ts";
import { stopRecordedProcess } from "./process-record.ts";
import { formatSeconds, LaunchError } from "./report.ts";
import { LOG_FILE_BYTES_MAX, logSince } from "./rotating-log.ts";

const READY_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 25_000;
const USER = "tracker";
const READER = "tracker_reports";
const DATABASE = "tracker";
/** The package for Linux on x64, as in package.json. Install the engines of other platforms by hand. */
const ENGINE_VERSION = "26.7.3-stable.1";

export type ClickhouseOptions = EmbeddedServerOptions & {
  /** Further variables of the engine, for files in config.d and users.d that name them. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Ports of this engine and of others, over which the nodes of a cluster ask each other. */
  readonly clusterPorts?: readonly number[];
};

export type EmbeddedClickhouse = EmbeddedServer & {
  /** The same server with a user that only reads, with less memory and time. */
  readonly readerUrl: string;
};

/**
 * The engine of clickhouse-local as a server on `DATA_DIR/clickhouse`, with the database and user `tracker`; the user's
 * password is kept in `DATA_DIR/clickhouse.password`. It answers nothing without a password, and reaches no file and no other
 * server, as far as the system can confine it.
 *
 * @throws {LaunchError} when it cannot run on this machine or on this folder.
 */
export async function startClickhouse(options: ClickhouseOptions): Promise<EmbeddedClickhouse> {
  const { dataDir, port, bind, report } = options;
  const startedAtMs = Date.now();
  prepareChildFolders(dataDir);
  await endLeftover(options);
  const owner = login(dataDir, USER, "clickhouse.password");
  const reader = login(dataDir, READER, "clickhouse-reports.password");
  const order = prepareEngine(options, { owner, reader });
  const addedLog = logSince(serverLog(dataDir));
  let saidReady = false;
  const child = await startChild({
    name: "clickhouse",
    command: process.execPath,
    args: [programFile("clickhouse-engine"), JSON.stringify(order)],
    // SQL can read this environment, so it has nothing of the launcher's, which may have secrets.
    env: { ...options.environment },
    dataDir,
    report,
    stopBy: "stdin-end",
    stopDeadlineMs: STOP_DEADLINE_MS,
    onLine: (line) => {
      saidReady ||= line === ENGINE_LINES.ready;
      if (line.startsWith(ENGINE_LINES.unconfined)) report.note("clickhouse", unconfined(line));
      if (line === ENGINE_LINES.deaf) report.warn("clickhouse", `${line}, so it is killed`);
    },
  });
  const outcome = await awaitReady({
    child,
    deadlineMs: READY_DEADLINE_MS,
    signal: options.signal,
    isReady: () => saidReady,
  });
  if (outcome !== "ready") {
    throw notStarted(dataDir, [...addedLog().split("\n"), ...child.lastLines()]);
  }
  await makeDatabase({ address: `http://${bind}:${port}`, ...owner });
  report.note(
    "clickhouse",
    `ready on ${bind}:${port} after ${formatSeconds(Date.now() - startedAtMs)}`,
  );
  const urlOf = ({ user, password }: ClickhouseLogin): string =>
    `http://${user}:${password}@${bind}:${port}/${DATABASE}`;
  return {
    url: urlOf(owner),
    readerUrl: urlOf(reader),
    pid: child.pid,
    exited: child.exited,
    stop: () => child.stop(),
  };
}

type Login = ClickhouseLogin & { readonly passwordFile: string };

function login(dataDir: string, user: string, file: string): Login {
  const passwordFile = join(dataDir, file);
  return { user, passwordFile, password: storedSecret(passwordFile) };
}

function unconfined(line: string): string {
  const why = line.slice(ENGINE_LINES.unconfined.length);
  return `${why}, so whoever has its password may read files of this machine or reach its network: see deploy/pages/security.md`;
}

async function endLeftover({ dataDir, report }: EmbeddedServerOptions): Promise<void> {
  const left = await stopRecordedProcess({
    file: processRecordFile(dataDir, "clickhouse"),
    stopSignal: "SIGTERM",
    deadlineMs: STOP_DEADLINE_MS,
  });
  if (left !== undefined) {
    report.note(
      "clickhouse",
      `ended the one that an earlier run had left behind (process ${left.pid})`,
    );
  }
}

/** @throws {LaunchError} if the installation has no engine for this machine. */
function engineLibrary(): string {
  const libc = process.platform === "linux" ? "-gnu" : "";
  const name = `@chdb/lib-${process.platform}-${process.arch}${libc}`;
  try {
    return join(dirname(createRequire(projectFile("package.json")).resolve(name)), "libchdb.so");
  } catch (error) {
    throw new LaunchError(
      `This installation has no embedded ClickHouse for this machine (${name}). On Linux with glibc on x64 run \`npm ci\` ` +
        `again with optional packages. On arm64 or macOS run \`npm install --no-save ${name}@${ENGINE_VERSION}\`. ` +
        "Elsewhere name a running server with CLICKHOUSE_URL.",
      { cause: error },
    );
  }
}

/** Writes the engine's configuration. Returns what its process gets. */
function prepareEngine(
  { dataDir, port, bind, clusterPorts = [] }: ClickhouseOptions,
  { owner, reader }: { readonly owner: Login; readonly reader: Login },
): ClickhouseEngineOrder {
  const folder = join(dataDir, "clickhouse");
  for (const made of [join(folder, "tmp"), dirname(serverLog(dataDir))])
    mkdirSync(made, { recursive: true, mode: 0o700 });
  const usersFile = join(folder, "users.xml");
  const configFile = join(folder, "config.xml");
  const logins = [owner, reader];
  const memoryBytesMax = clickhouseMemoryBytesMax(process.constrainedMemory() || totalmem());
  const config = clickhouseConfig({
    folder,
    usersFile,
    bind,
    port,
    logins: logins.length,
    memoryBytesMax,
    logBytesMax: LOG_FILE_BYTES_MAX,
    logFile: serverLog(dataDir),
  });
  const users = clickhouseUsers({ owner, reader, memoryBytesMax });
  writeFileSync(usersFile, users, { mode: 0o600 });
  writeFileSync(configFile, config, { mode: 0o600 });
  return {
    library: engineLibrary(),
    configFile,
    host: bind,
    port,
    logins: [owner, reader].map(({ user, passwordFile }) => ({ user, passwordFile })),
    folders: [folder, dirname(serverLog(dataDir))],
    clusterPorts: [...clusterPorts],
  };
}

/** The engine's own log. The engine rotates it, so it has a folder. Other output of the process is in `clickhouse.log`. */
function serverLog(dataDir: string): string {
  return join(dataDir, "logs", "clickhouse", "server.log");
}

async function makeDatabase(access: ClickhouseAccess): Promise<void> {
  try {
    await askClickhouse(access, `CREATE DATABASE IF NOT EXISTS ${DATABASE}`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new LaunchError(`ClickHouse cannot make its database: ${lastLinesOf(said)}`, {
      cause: error,
    });
  }
}

function notStarted(dataDir: string, lines: readonly string[]): LaunchError {
  const said = lines.filter((line) => /Exception|Code:|error/i.test(line));
  return new LaunchError(
    `ClickHouse does not start on ${join(dataDir, "clickhouse")}: ` +
      `${lastLinesOf((said.length > 0 ? said : lines).join("\n"), 1)}\n` +
      `More is in ${serverLog(dataDir)}. If the data is damaged, restore that folder from a ` +
      `backup, or move ${dataDir} away to start with empty data.`,
  );
}
