import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { listSpans } from "../../schemas/facts/audited-spans.ts";
import type { FactStores } from "../../schemas/facts/fact-sums.ts";
import { FACT_TABLES } from "../../schemas/facts/fact-table.ts";
import { findDifferences, findDifferingDays } from "../../schemas/facts/find-differences.ts";
import { deleteGhosts } from "../../schemas/facts/repair-facts.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { OWNER_SECONDS_MAX } from "../local/clickhouse-users.ts";
import { commandOutput, lastLinesOf } from "../local/command-output.ts";
import { postgresPrograms } from "../local/postgres-programs.ts";
import { LaunchError, type Report } from "../local/report.ts";
import { chooseServerAccount, makeAccountFolder } from "../local/server-account.ts";
import { openServers, type ServerUrls } from "../local/server-set.ts";
import type { LauncherSettings } from "../local/settings.ts";
import { Supervisor } from "../local/supervisor.ts";
import {
  CLICKHOUSE,
  CLUSTER,
  clickhouseBackups,
  JOURNAL,
  MANIFEST,
  RESTORING,
} from "./backup-folders.ts";
import { INSTALLATION_FILES } from "./data-dir-entries.ts";
import { type Manifest, readManifest, verifyFiles } from "./manifest.ts";
import { unpackCluster, unpackFiles } from "./tar.ts";

const APPLICATION_NAME = "tracker restore";
const COMMAND_MS_MAX = 3_600_000;

export type RestoreOrder = {
  readonly settings: LauncherSettings;
  readonly archive: string;
  /** Needed if the archive is sealed, and refused if it is not. */
  readonly passphrase: string | undefined;
  /** Postbacks and webhooks wait for `tracker deliveries release`. */
  readonly holdDeliveries: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly report: Report;
  readonly signal: AbortSignal;
};

/**
 * Restores an archive into a DATA_DIR that is empty and locked by this process. Afterwards no process runs and `npm start` continues from
 * the archive. Until it has finished, the folder `restore.new` makes `npm start` refuse the DATA_DIR. @throws {LaunchError}
 */
export async function restoreBackup(order: RestoreOrder): Promise<Manifest> {
  const { settings, report } = order;
  const { dataDir } = settings;
  const draft = join(dataDir, RESTORING);
  mkdirSync(draft, { mode: 0o700 });
  let manifest: Manifest;
  try {
    await unpackFiles(resolve(order.archive), draft, order.passphrase);
    manifest = readManifest(join(draft, MANIFEST));
    await verifyFiles(draft, manifest);
  } catch (error) {
    // Nothing was restored yet, so the folder is empty again.
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  report.note("restore", `the archive of ${manifest.began_at} is whole`);
  await placeFiles(dataDir, draft);
  const supervisor = new Supervisor(report);
  const stop = (): void => void supervisor.stop();
  order.signal.addEventListener("abort", stop, { once: true });
  try {
    const urls = await openServers(settings, supervisor, report);
    await restoreClickhouse(urls, dataDir, draft);
    report.note("restore", "ClickHouse is restored");
    await cure(order, urls);
  } finally {
    order.signal.removeEventListener("abort", stop);
    await supervisor.stop();
  }
  rmSync(draft, { recursive: true, force: true });
  return manifest;
}

async function placeFiles(dataDir: string, draft: string): Promise<void> {
  for (const name of [...INSTALLATION_FILES, JOURNAL]) {
    if (existsSync(join(draft, name))) renameSync(join(draft, name), join(dataDir, name));
  }
  const folder = join(dataDir, "postgres");
  const account = await chooseServerAccount(folder, [postgresPrograms()]);
  makeAccountFolder(folder, account);
  await unpackCluster(join(draft, CLUSTER), folder, account);
}

async function restoreClickhouse(urls: ServerUrls, dataDir: string, draft: string): Promise<void> {
  const backups = clickhouseBackups(dataDir);
  mkdirSync(backups, { recursive: true, mode: 0o700 });
  renameSync(join(draft, CLICKHOUSE), join(backups, RESTORING));
  const clickhouse = openClickhouse({
    url: urls.clickhouseUrl,
    applicationName: APPLICATION_NAME,
    requestTimeoutMs: OWNER_SECONDS_MAX * 1_000,
  });
  try {
    // The statement takes no parameters.
    await clickhouse.command({
      query: `RESTORE DATABASE tracker FROM File('${RESTORING}')`,
      clickhouse_settings: { max_execution_time: OWNER_SECONDS_MAX },
    });
  } finally {
    await clickhouse.close();
    rmSync(join(backups, RESTORING), { recursive: true, force: true });
  }
}

/** Brings the restored stores to one state: no number or id is used twice, and reports have no conversion that Postgres has not. */
async function cure(order: RestoreOrder, urls: ServerUrls): Promise<void> {
  const { report } = order;
  const pool = openPool({ url: urls.postgresUrl, applicationName: "tracker command line" });
  const clickhouse = openClickhouse({
    url: urls.clickhouseUrl,
    applicationName: APPLICATION_NAME,
    requestTimeoutMs: OWNER_SECONDS_MAX * 1_000,
  });
  try {
    // The writers of the archive do not run here: this DATA_DIR is locked, and its servers are new.
    await pool.query({
      name: "forget-writers-of-the-archive",
      text: "update lane_writer set expires_at = '-infinity'",
    });
    await runTracker(order, urls, ["migrate"]);
    const held = order.holdDeliveries ? ["--hold-deliveries"] : [];
    await runTracker(order, urls, ["restored", "--both", ...held]);
    const ghosts = await removeGhosts({ db: pool, clickhouse });
    if (ghosts > 0)
      report.note("restore", `removed ${ghosts} copies of later records from reports`);
  } finally {
    await clickhouse.close();
    await pool.end();
  }
}

/** ClickHouse was copied after Postgres, so it may have copies of conversions and ad costs that this Postgres has not. */
async function removeGhosts(stores: FactStores): Promise<number> {
  let removed = 0;
  for (const table of FACT_TABLES) {
    for (const span of await listSpans(stores, table, 0)) {
      for (const day of await findDifferingDays(stores, table, span)) {
        for await (const differences of findDifferences(stores, table, day)) {
          removed += await deleteGhosts(stores, table, differences);
        }
      }
    }
  }
  return removed;
}

async function runTracker(
  { environment, settings, report, signal }: RestoreOrder,
  urls: ServerUrls,
  args: readonly string[],
): Promise<void> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== "") env[name] = value;
  }
  const { code, stdout, stderr } = await commandOutput(
    process.execPath,
    [projectFile(".build", "api", "tracker.js"), ...args],
    {
      env: {
        ...env,
        POSTGRES_URL: urls.postgresUrl,
        NATS_URL: urls.natsUrl,
        CLICKHOUSE_URL: urls.clickhouseUrl,
        DATA_DIR: settings.dataDir,
        // These are the servers of `npm start`.
        DURABILITY: settings.isStrict ? "strict" : "relaxed",
      },
      deadlineMs: COMMAND_MS_MAX,
      signal,
    },
  );
  if (code !== 0)
    throw new LaunchError(`tracker ${args[0] ?? ""} failed: ${lastLinesOf(stderr, 3)}`);
  for (const line of stdout.split("\n").filter((one) => /^(Review|Postgres is as)/.test(one))) {
    report.note("restore", line);
  }
}
