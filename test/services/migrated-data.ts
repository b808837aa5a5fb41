import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import type { Report } from "../../deploy/local/report.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { until } from "../system/until.ts";

const BIND = "127.0.0.1";
/** Making the data takes some 10 s of processor time; other tests may run meanwhile. */
const MADE_MS_MAX = 4 * 60_000;

/** Both servers' files in a DATA_DIR. */
const FILES = {
  postgres: ["postgres", "postgres.password", "postgres-backup.password"],
  clickhouse: ["clickhouse", "clickhouse.password", "clickhouse-reports.password"],
} as const;

type Store = keyof typeof FILES;
type Programs = { readonly runtimeDir: string; readonly report: Report };

/**
 * Copies the data of stopped servers into a DATA_DIR that has none: a new cluster and engine whose database `tracker` is migrated and
 * has no rows of a test. The first call of a run makes them, so that initdb and all migrations run once in a run and not for each
 * system. Returns false outside a test run: then the servers make their data themselves.
 */
export async function copyMigratedData(
  dataDir: string,
  stores: readonly Store[],
  programs: Programs,
): Promise<boolean> {
  const folder = process.env["TEST_RUN_FOLDER"];
  if (folder === undefined || folder === "" || stores.length === 0) return false;
  const made = join(folder, "migrated");
  await until("the data of migrated servers is made", () => isMade(folder, made, programs), {
    timeoutMs: MADE_MS_MAX,
  });
  const files = stores.flatMap((store) => FILES[store]).map((file) => join(made, file));
  // Keeps the owner: Postgres runs under an account of its own.
  await promisify(execFile)("cp", ["-a", ...files, dataDir]);
  return true;
}

/** Makes the data unless another worker is making it. */
async function isMade(folder: string, made: string, programs: Programs): Promise<boolean> {
  if (existsSync(made)) return true;
  const draft = join(folder, "draft");
  try {
    await mkdir(folder, { recursive: true });
    await mkdir(draft, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
  try {
    // Another worker may have finished since the first look.
    if (existsSync(made)) {
      await rm(draft, { recursive: true });
      return true;
    }
    await makeMigrated(draft, programs);
    await rename(draft, made);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return true;
}

async function makeMigrated(dataDir: string, programs: Programs): Promise<void> {
  const options = { ...programs, dataDir, bind: BIND };
  const postgres = await startPostgres({ ...options, port: await pickPort(BIND) });
  try {
    const clickhouse = await startClickhouse({ ...options, port: await pickPort(BIND) });
    try {
      const pool = openPool({ url: postgres.url, applicationName: "test", connectionsMax: 2 });
      try {
        await Promise.all([migratePostgres(pool), migrateClickhouse({ url: clickhouse.url })]);
      } finally {
        await pool.end();
      }
    } finally {
      await clickhouse.stop();
    }
  } finally {
    await postgres.stop();
  }
}
