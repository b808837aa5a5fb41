import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { OwnServer } from "../../system/own-server.ts";

/**
 * `clickhouse client` and `clickhouse local` are not installed here. This program takes their arguments and sends the statement to an engine of
 * `npm start`, so the scripts and their SQL are real, and the two programs are not.
 */
const CLICKHOUSE = `#!/bin/sh
kind=$1
while [ $# -gt 1 ]; do
  [ "$1" = --query ] && query=$2
  shift
done
if [ "$kind" = client ]; then url=$SERVER_URL; else url=$SCRATCH_URL; fi
printf '%s' "$query" | curl --silent --show-error --fail-with-body --data-binary @- "$url"
`;

const server = await forThisFile(OwnServer.open("clickhouse", { isEmpty: true }));
const scratch = await forThisFile(OwnServer.open("clickhouse", { isEmpty: true }));
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tracker-chart-clickhouse-"));
  for (const name of ["backup", "scratch", "secrets", "bin"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "bin", "clickhouse"), CLICKHOUSE, { mode: 0o755 });
  await onEngine(
    server,
    "create table click (id UInt64, note String) engine = MergeTree order by id",
    "insert into click select number, repeat('x', 50) from numbers(5000)",
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function onEngine({ url }: OwnServer, ...statements: readonly string[]): Promise<void> {
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  try {
    for (const query of statements) await clickhouse.command({ query });
  } finally {
    await clickhouse.close();
  }
}

/** Where statements about the database are posted to. */
function statementUrl({ url }: OwnServer): string {
  return url.replace(/\/(\w+)$/, "/?database=$1");
}

function run(script: string): { readonly status: number | null; readonly output: string } {
  const at = projectFile("deploy", "helm", "tracker", "files", script);
  const { status, stdout, stderr } = spawnSync("sh", [at], {
    encoding: "utf8",
    env: {
      PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
      SERVER_URL: statementUrl(server),
      SCRATCH_URL: statementUrl(scratch),
      BACKUP_FOLDER: join(folder, "backup"),
      SCRATCH_FOLDER: join(folder, "scratch"),
      SECRETS_FOLDER: join(folder, "secrets"),
      AGE_HOURS_MAX: "36",
      CLICKHOUSE_DATABASE: "tracker",
      CLICKHOUSE_DESTINATION: "File('{name}')",
    },
  });
  return { status, output: `${stdout}${stderr}` };
}

/** The folder of the newest backup at the scratch engine, which has what the server wrote. */
function carry(): string {
  const name = readFileSync(join(folder, "backup", "clickhouse-newest"), "utf8");
  const target = join(scratch.folder, "backups", name);
  rmSync(target, { recursive: true, force: true });
  cpSync(join(server.folder, "backups", name), target, { recursive: true });
  return target;
}

test("a drill without a backup of ClickHouse fails and says so", () => {
  const { status, output } = run("drill-clickhouse.sh");
  expect(output).toContain("there is no backup of ClickHouse");
  expect(status).toBe(1);
});

test("a backup of ClickHouse by the chart is restored by the drill, and every part is checked", () => {
  const backup = run("backup-clickhouse.sh");
  expect(backup.status, backup.output).toBe(0);
  expect(backup.output).toMatch(/File\('20\d\d-[\dT-]+Z'\)/);
  carry();
  const drill = run("drill-clickhouse.sh");
  expect(drill.status, drill.output).toBe(0);
  expect(drill.output).toContain(": 5000 clicks");
});

test("a drill fails on a backup of ClickHouse that is damaged", async () => {
  await onEngine(scratch, "drop table click sync");
  const damaged = carry();
  const files = readdirSync(damaged, { recursive: true, encoding: "utf8" });
  const bin = files.find((name) => name.endsWith(".bin")) ?? "";
  const size = statSync(join(damaged, bin)).size;
  writeFileSync(join(damaged, bin), Buffer.alloc(size, 7));
  const { status, output } = run("drill-clickhouse.sh");
  // RESTORE itself does not read what it copies.
  expect(output).toContain("the table click is damaged: 0");
  expect(status).toBe(1);
});
