import { randomUUID } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { BACKED_UP_STORES, noteBackup } from "../../schemas/installation/backup-notes.ts";
import { copyPostgres } from "../../schemas/postgres/base-backup.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { OWNER_SECONDS_MAX } from "../local/clickhouse-users.ts";
import { backupUrl } from "../local/embedded-postgres.ts";
import { parseJson } from "../local/kept-files.ts";
import { LaunchError, type Report } from "../local/report.ts";
import { makeSeal } from "./archive-seal.ts";
import { CLICKHOUSE, CLUSTER, clickhouseBackups, JOURNAL, MANIFEST } from "./backup-folders.ts";
import { copyJournals } from "./copy-journals.ts";
import { INSTALLATION_FILES, unknownEntries } from "./data-dir-entries.ts";
import { describeFiles, type Manifest } from "./manifest.ts";
import { packFiles } from "./tar.ts";

const APPLICATION_NAME = "tracker backup";
const PRIVATE_FILE = 0o600;
const Running = z.object({ postgres_url: z.string(), clickhouse_url: z.string() });

export type BackupOrder = {
  readonly dataDir: string;
  /** The file to write; it must not exist. */
  readonly archive: string;
  /** Addresses of the servers of the running `npm start`, as servers.json has them. */
  readonly running: string | undefined;
  /** Seals the archive. */
  readonly passphrase: string | undefined;
  readonly report: Report;
  readonly signal: AbortSignal;
};

/**
 * Writes one archive of a running one-machine installation. Every click and conversion that was answered before this is called is in it:
 * clicks in the journals, which are copied first, or in ClickHouse, which is copied last. Conversions are in Postgres. The archive has its name
 * only when it is whole. @throws {LaunchError}, and what the servers report.
 */
export async function takeBackup(order: BackupOrder): Promise<string> {
  const { dataDir, passphrase, report, signal } = order;
  const archive = resolve(order.archive);
  if (existsSync(archive)) throw new LaunchError(`${archive} exists. Choose another name.`);
  const urls = readRunning(order);
  for (const name of unknownEntries(dataDir)) {
    report.warn(
      "backup",
      `${join(dataDir, name)} is not of this release, so it is not in the archive`,
    );
  }
  const beganAt = new Date();
  mkdirSync(dirname(archive), { recursive: true });
  const draft = mkdtempSync(`${archive}.part-`);
  const clickhouse = openClickhouse({
    url: urls.clickhouse_url,
    applicationName: APPLICATION_NAME,
    requestTimeoutMs: OWNER_SECONDS_MAX * 1_000,
  });
  const rows = join(clickhouseBackups(dataDir), randomUUID());
  const parts = [draft, rows];
  try {
    copyJournals(join(dataDir, JOURNAL), join(draft, JOURNAL));
    report.note("backup", "journals are copied");
    await copyPostgres(backupUrl(dataDir, portOf(urls.postgres_url)), join(draft, CLUSTER), signal);
    report.note("backup", "Postgres is copied");
    await copyClickhouse(clickhouse, `${basename(rows)}/${CLICKHOUSE}`);
    report.note("backup", "ClickHouse is copied");
    signal.throwIfAborted();
    copyInstallationFiles(dataDir, draft);
    await writeManifest(draft, await describeFiles(parts, beganAt.toISOString()));
    const seal = passphrase === undefined ? undefined : await makeSeal(passphrase);
    await packFiles(`${archive}.new`, parts, seal);
    renameSync(`${archive}.new`, archive);
    await noteTaken(urls.postgres_url, beganAt);
  } finally {
    await clickhouse.close();
    for (const made of [draft, rows, `${archive}.new`]) {
      rmSync(made, { recursive: true, force: true });
    }
  }
  return archive;
}

function readRunning({ dataDir, running }: BackupOrder): z.infer<typeof Running> {
  const parsed = Running.safeParse(parseJson(running ?? ""));
  if (parsed.success && existsSync(join(dataDir, "postgres", "postmaster.pid"))) return parsed.data;
  throw new LaunchError(
    `Nothing that \`npm start\` has started runs in ${dataDir}. Start it first, or name its folder with DATA_DIR. ` +
      "Servers of your own are backed up by their own tools: see deploy/pages/backup.md.",
  );
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** The statement takes no parameters. `folder` is a name that this program has made. */
async function copyClickhouse(clickhouse: Clickhouse, folder: string): Promise<void> {
  await clickhouse.command({
    query: `BACKUP DATABASE tracker TO File('${folder}')`,
    clickhouse_settings: { max_execution_time: OWNER_SECONDS_MAX },
  });
}

function copyInstallationFiles(dataDir: string, draft: string): void {
  for (const name of INSTALLATION_FILES) {
    const from = join(dataDir, name);
    if (!existsSync(from)) continue;
    copyFileSync(from, join(draft, name));
    chmodSync(join(draft, name), PRIVATE_FILE);
  }
}

async function writeManifest(draft: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  await writeFile(join(draft, MANIFEST), text, { mode: PRIVATE_FILE });
}

async function noteTaken(postgresUrl: string, at: Date): Promise<void> {
  const pool = openPool({
    url: postgresUrl,
    applicationName: APPLICATION_NAME,
    connectionsMax: 1,
  });
  try {
    await noteBackup(pool, BACKED_UP_STORES, at);
  } finally {
    await pool.end();
  }
}
