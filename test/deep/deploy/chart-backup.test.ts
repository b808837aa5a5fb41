import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { DebianPostgres, debianPostgresFault } from "../../system/debian-postgres.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";
const PAGE_BYTES = 8_192;
const fault = debianPostgresFault();
if (fault !== undefined) process.stderr.write(`skipped: the scripts of backups: ${fault}\n`);

let postgres: DebianPostgres;
let folder = "";

beforeAll(async () => {
  if (fault !== undefined) return;
  postgres = await DebianPostgres.open();
  folder = mkdtempSync(join(tmpdir(), "tracker-chart-backup-"));
  for (const name of ["", "backup", "scratch", "secrets", "scripts"]) {
    mkdirSync(join(folder, name), { recursive: true });
    await chmod(join(folder, name), 0o777);
  }
  writeFileSync(join(folder, "secrets", "postgresUrl"), postgres.adminUrl);
  sql("create table conversion (id bigint primary key, note text)");
  sql("insert into conversion select id, repeat('x', 200) from generate_series(1, 5000) id");
});
afterAll(async () => {
  if (fault !== undefined) return;
  await postgres[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function sql(text: string): void {
  const url = postgres.adminUrl.replace(/postgres$/, "tracker");
  const { status, stderr } = spawnSync(join(PROGRAMS, "psql"), [
    "--dbname",
    url,
    "--command",
    text,
  ]);
  expect(String(stderr)).toBe("");
  expect(status).toBe(0);
}

/** Runs a script of the chart as its pod does: not as root, with its folders and secrets. A copy, because only root may read some checkouts. */
function run(script: string): { readonly status: number | null; readonly output: string } {
  const at = join(folder, "scripts", script);
  copyFileSync(projectFile("deploy", "helm", "tracker", "files", script), at);
  const account = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"];
  const { status, stdout, stderr } = spawnSync("setpriv", [...account, "sh", at], {
    encoding: "utf8",
    cwd: "/",
    env: {
      PATH: `${PROGRAMS}:${process.env["PATH"] ?? ""}`,
      HOME: join(folder, "scratch"),
      BACKUP_FOLDER: join(folder, "backup"),
      SCRATCH_FOLDER: join(folder, "scratch"),
      SECRETS_FOLDER: join(folder, "secrets"),
      KEEP: "2",
      AGE_HOURS_MAX: "36",
      POSTGRES_DATABASE: "tracker",
    },
  });
  return { status, output: `${stdout}${stderr}` };
}

const copies = (): string[] => readdirSync(join(folder, "backup", "postgres")).toSorted();

test.skipIf(fault !== undefined)("a drill without a backup fails and says so", () => {
  mkdirSync(join(folder, "backup", "postgres"));
  const { status, output } = run("drill-postgres.sh");
  expect(output).toContain("there is no backup of Postgres");
  expect(status).toBe(1);
  rmSync(join(folder, "backup", "postgres"), { recursive: true });
});

test.skipIf(fault !== undefined)(
  "a backup of Postgres by the chart is whole, is restored by the drill, and every row is read",
  () => {
    const backup = run("backup-postgres.sh");
    expect(backup.status, backup.output).toBe(0);
    expect(copies()).toHaveLength(1);
    const drill = run("drill-postgres.sh");
    expect(drill.status, drill.output).toBe(0);
    expect(drill.output).toContain(": 5000 conversions");
    // Scratch data goes, so that a volume that is used again has room.
    expect(readdirSync(join(folder, "scratch"))).not.toContain("postgres");
  },
);

test.skipIf(fault !== undefined)("a drill fails on a backup that is damaged, or too old", () => {
  const [name = ""] = copies();
  const copy = join(folder, "backup", "postgres", name);
  const longAgo = new Date(Date.now() - 40 * 3_600_000);
  utimesSync(copy, longAgo, longAgo);
  const late = run("drill-postgres.sh");
  expect(late.output).toContain("is older than 36 hours");
  expect(late.status).toBe(1);
  utimesSync(copy, new Date(), new Date());

  const { stdout } = spawnSync(join(PROGRAMS, "psql"), [
    ...["--dbname", postgres.adminUrl.replace(/postgres$/, "tracker"), "--tuples-only"],
    ...["--no-align", "--command", "select pg_relation_filepath('conversion')"],
  ]);
  const file = openSync(join(copy, String(stdout).trim()), "r+");
  writeSync(file, randomBytes(3 * PAGE_BYTES), 0, 3 * PAGE_BYTES, 2 * PAGE_BYTES);
  closeSync(file);
  const damaged = run("drill-postgres.sh");
  expect(damaged.output).toMatch(/conversion[\s\S]*block/);
  expect(damaged.status).not.toBe(0);
});

test.skipIf(fault !== undefined)(
  "only the newest backups stay, and nothing that is half done",
  () => {
    mkdirSync(join(folder, "backup", "postgres", "2026-01-01T00-00-00Z.part"));
    mkdirSync(join(folder, "backup", "postgres", "2026-01-01T00-00-00Z"));
    const [, newest = ""] = copies().filter((name) => !name.endsWith("part"));
    const { status, output } = run("backup-postgres.sh");
    expect(status, output).toBe(0);
    expect(copies()).toHaveLength(2);
    expect(copies()).toContain(newest);
  },
);
