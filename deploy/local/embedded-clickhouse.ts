import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { askClickhouse, type ClickhouseAccess } from "./ask-clickhouse.ts";
import { prepareChildFolders, processRecordFile, startChild } from "./child.ts";
import { type ClickhouseEngineOrder, programFile } from "./child-programs.ts";
import {
  clickhouseConfig,
  clickhouseMemoryBytesMax,
  clickhouseUsers,
} from "./clickhouse-config.ts";
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
const DATABASE = "tracker";
/** The package for Linux on x64, as in package.json. Install the engines of other platforms by hand. */
const ENGINE_VERSION = "26.7.3-stable.1";

/**
 * The engine of clickhouse-local as a server on `DATA_DIR/clickhouse`, with the database and user `tracker`; the user's
 * password is kept in `DATA_DIR/clickhouse.password`.
 *
 * @throws {LaunchError} when it cannot run on this machine or on this folder.
 */
export async function startClickhouse(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { dataDir, port, bind, report } = options;
  const startedAtMs = Date.now();
  prepareChildFolders(dataDir);
  await endLeftover(options);
  const address = `http://${bind}:${port}`;
  const passwordFile = join(dataDir, "clickhouse.password");
  const password = storedSecret(passwordFile);
  const configFile = writeConfiguration(options, password);
  const order: ClickhouseEngineOrder = {
    library: engineLibrary(),
    configFile,
    address,
    passwordFile,
    user: USER,
  };
  const addedLog = logSince(serverLog(dataDir));
  let saidReady = false;
  const child = await startChild({
    name: "clickhouse",
    command: process.execPath,
    args: [programFile("clickhouse-engine"), JSON.stringify(order)],
    dataDir,
    report,
    stopBy: "stdin-end",
    stopDeadlineMs: STOP_DEADLINE_MS,
    onLine: (line) => {
      saidReady ||= line === "ready";
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
  await makeDatabase({ address, user: USER, password });
  report.note(
    "clickhouse",
    `ready on ${bind}:${port} after ${formatSeconds(Date.now() - startedAtMs)}`,
  );
  return {
    url: `http://${USER}:${password}@${bind}:${port}/${DATABASE}`,
    pid: child.pid,
    exited: child.exited,
    stop: () => child.stop(),
  };
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

function writeConfiguration(options: EmbeddedServerOptions, password: string): string {
  const { dataDir, port, bind } = options;
  const folder = join(dataDir, "clickhouse");
  mkdirSync(join(folder, "tmp"), { recursive: true, mode: 0o700 });
  const usersFile = join(folder, "users.xml");
  const configFile = join(folder, "config.xml");
  const config = clickhouseConfig({
    folder,
    usersFile,
    bind,
    port,
    memoryBytesMax: clickhouseMemoryBytesMax(process.constrainedMemory() || totalmem()),
    logBytesMax: LOG_FILE_BYTES_MAX,
    logFile: serverLog(dataDir),
  });
  writeFileSync(usersFile, clickhouseUsers(USER, password), { mode: 0o600 });
  writeFileSync(configFile, config, { mode: 0o600 });
  return configFile;
}

/** The engine's own log, which it rotates itself. Other output of its process is in `clickhouse.log`. */
function serverLog(dataDir: string): string {
  return join(dataDir, "logs", "clickhouse-server.log");
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
