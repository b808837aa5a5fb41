import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareChildFolders } from "./child.ts";
import { commandOutput, lastLinesOf } from "./command-output.ts";
import type { EmbeddedServer, EmbeddedServerOptions } from "./embedded-server.ts";
import { storedSecret } from "./kept-files.ts";
import { awaitReady, startLeashed } from "./leashed-server.ts";
import { postgresPrograms } from "./postgres-programs.ts";
import { formatSeconds, LaunchError } from "./report.ts";
import {
  asAccount,
  chooseServerAccount,
  makeAccountFolder,
  type ServerAccount,
} from "./server-account.ts";

/** Recovery after a crash replays up to `max_wal_size`, which takes long on a slow disk. */
const READY_DEADLINE_MS = 180_000;
const STOP_DEADLINE_MS = 30_000;

/** `synchronous_commit` and `fsync` are the defaults, named because P14 and P35 depend on them. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: "200",
  shared_buffers: "128MB",
  synchronous_commit: "on",
  fsync: "on",
  full_page_writes: "on",
  password_encryption: "scram-sha-256",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %a ",
  logging_collector: "off",
};

export type PostgresOptions = EmbeddedServerOptions & {
  /** Absolute. Replaces our settings, for a server that is run as in production. */
  readonly configFile?: string;
};
/** The role of `tracker backup`, which may copy the whole cluster and read nothing else. */
const BACKUP_ROLE = "tracker_backup";
const CLIENT_RULES = `host all tracker samehost scram-sha-256
host replication ${BACKUP_ROLE} samehost scram-sha-256
`;

interface Cluster {
  programs: string;
  folder: string;
  account: ServerAccount | undefined;
}

/**
 * Postgres 18 on `DATA_DIR/postgres`, made at the first start: UTF-8, comparison by code point, the database `tracker`
 * owned by the role `tracker`, which may create databases and nothing more. It listens on TCP only and asks for a
 * password, which is kept in `DATA_DIR/postgres.password`.
 *
 * @throws {LaunchError} when it cannot run on this machine or on this folder.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedServer> {
  const { dataDir, port, bind, report, configFile } = options;
  const startedAtMs = Date.now();
  prepareChildFolders(dataDir);
  const programs = postgresPrograms();
  const folder = join(dataDir, "postgres");
  const cluster = { programs, folder, account: await chooseServerAccount(folder, [programs]) };
  const password = await prepareCluster(cluster, options);
  await prepareBackups(cluster, options);
  const chosen = configFile === undefined ? SERVER_SETTINGS : { config_file: configFile };
  const settings = {
    ...chosen,
    port: String(port),
    listen_addresses: bind,
    unix_socket_directories: "",
  };
  const program = asAccount(cluster.account, join(programs, "bin", "postgres"), [
    "-D",
    folder,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ]);
  const earlier = readPidFile(folder).server;
  const child = await startLeashed(
    {
      name: "postgres",
      ...program,
      // Fast shutdown: sessions are ended, data is flushed. SIGQUIT leaves the rest to recovery.
      stopSignal: "SIGINT",
      deadlineMs: STOP_DEADLINE_MS,
      forceSignal: "SIGQUIT",
    },
    options,
  );
  const outcome = await awaitReady({
    child,
    deadlineMs: READY_DEADLINE_MS,
    signal: options.signal,
    isReady: () => {
      const { server, isReadyOn } = readPidFile(folder);
      return server !== earlier && isReadyOn(port);
    },
  });
  if (outcome !== "ready") throw notStarted(folder, dataDir, child.lastLines());
  report.note(
    "postgres",
    `ready on ${bind}:${port} after ${formatSeconds(Date.now() - startedAtMs)}`,
  );
  return {
    url: `postgres://tracker:${password}@${bind}:${port}/tracker`,
    pid: child.pid,
    exited: child.exited,
    stop: () => child.stop(),
  };
}

/** Creates the cluster if there is none. Returns the password of `tracker`. */
async function prepareCluster(
  cluster: Cluster,
  { dataDir, report, signal }: EmbeddedServerOptions,
): Promise<string> {
  const passwordFile = join(dataDir, "postgres.password");
  const passwordWasKept = existsSync(passwordFile);
  const password = storedSecret(passwordFile);
  if (!existsSync(cluster.folder)) {
    report.note("postgres", "making a new database cluster");
    await makeCluster(cluster, password, signal);
  } else if (!existsSync(join(cluster.folder, "PG_VERSION"))) {
    throw new LaunchError(
      `${cluster.folder} is not a Postgres data folder (no PG_VERSION in it). Restore it from a backup, or move ` +
        `${dataDir} away to start with empty data.`,
    );
  } else if (!passwordWasKept) {
    await runAlone(cluster, cluster.folder, [`alter role tracker password '${password}'`], signal);
  }
  return password;
}

/** The URL at which `tracker backup` copies a running cluster. */
export function backupUrl(dataDir: string, port: number): string {
  const password = readFileSync(backupPasswordFile(dataDir), "utf8").trim();
  return `postgres://${BACKUP_ROLE}:${password}@127.0.0.1:${port}/tracker`;
}

function backupPasswordFile(dataDir: string): string {
  return join(dataDir, "postgres-backup.password");
}

/** A cluster of an earlier release gets the role and the rule here. The password file is written last, so that a repeat completes it. */
async function prepareBackups(
  cluster: Cluster,
  { dataDir, signal }: EmbeddedServerOptions,
): Promise<void> {
  const rules = join(cluster.folder, "pg_hba.conf");
  if (readFileSync(rules, "utf8") !== CLIENT_RULES) writeFileSync(rules, CLIENT_RULES);
  const file = backupPasswordFile(dataDir);
  if (existsSync(file)) return;
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const password = storedSecret(draft);
  const create = `if not exists (select from pg_roles where rolname = '${BACKUP_ROLE}') then create role ${BACKUP_ROLE}; end if;`;
  await runAlone(
    cluster,
    cluster.folder,
    [
      `do $role$ begin ${create} end $role$`,
      `alter role ${BACKUP_ROLE} login replication password '${password}'`,
    ],
    signal,
  );
  renameSync(draft, file);
}

/** Works in a temporary folder and renames it at the end, so that an interrupted start leaves no incomplete cluster. */
async function makeCluster(
  cluster: Cluster,
  password: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = `${cluster.folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  makeAccountFolder(draft, cluster.account);
  const initdb = asAccount(cluster.account, join(cluster.programs, "bin", "initdb"), [
    "-D",
    draft,
    "--username=postgres",
    "--encoding=UTF8",
    "--locale=C", // Case mapping for all languages, order by code point, independent of system libraries.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=reject",
  ]);
  const made = await commandOutput(initdb.command, initdb.args, {
    account: initdb.account,
    cwd: draft,
    signal,
  });
  if (made.code !== 0) {
    throw new LaunchError(
      `Postgres could not make its data folder ${draft}: ${lastLinesOf(made.stderr)}`,
    );
  }
  writeFileSync(join(draft, "pg_hba.conf"), CLIENT_RULES);
  await runAlone(
    cluster,
    draft,
    [
      `create role tracker login createdb password '${password}'`,
      "create database tracker owner tracker",
    ],
    signal,
  );
  renameSync(draft, cluster.folder);
}

/** Runs statements in single-user mode and stops at the first that fails. Each must be one line. */
async function runAlone(
  cluster: Cluster,
  folder: string,
  statements: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const statement of statements) {
    const alone = asAccount(cluster.account, join(cluster.programs, "bin", "postgres"), [
      "--single",
      "-D",
      folder,
      "-c",
      "log_checkpoints=off",
      "-c",
      "exit_on_error=on",
      "template1",
    ]);
    const { code, stderr } = await commandOutput(alone.command, alone.args, {
      account: alone.account,
      cwd: folder,
      input: `${statement}\n`,
      signal,
    });
    if (code !== 0) {
      throw new LaunchError(`Postgres could not be set up in ${folder}: ${lastLinesOf(stderr)}`);
    }
  }
}

/**
 * Which server wrote postmaster.pid (pid, folder and time of start), and whether it takes connections: as `pg_ctl --wait` checks it.
 * Line 4 is the port, line 8 the state. A server that was killed leaves its file, which says "ready" until the next one rewrites it.
 */
function readPidFile(folder: string): { server: string; isReadyOn: (port: number) => boolean } {
  const file = join(folder, "postmaster.pid");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return {
    server: lines.slice(0, 3).join("\n"),
    isReadyOn: (port) => lines[3] === String(port) && lines[7]?.trim() === "ready",
  };
}

function notStarted(folder: string, dataDir: string, lines: readonly string[]): LaunchError {
  const said = lines.filter((line) => /FATAL|PANIC|HINT|could not/.test(line)).slice(-2);
  return new LaunchError(
    `Postgres does not start on ${folder}: ${lastLinesOf((said.length > 0 ? said : lines).join("\n"))}\n` +
      `More is in ${join(dataDir, "logs", "postgres.log")}. If the data is damaged, restore ${folder} from a backup, ` +
      `or move ${dataDir} away to start with empty data.`,
  );
}
