import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { EnginePair, withDatabase } from "../../services/engine-pair.ts";
import { forThisFile } from "../../services/for-this-file.ts";

const SCRIPT = projectFile("deploy", "checks", "clickhouse-cluster.sh");
const DATABASE = "check_ledger";

const pair = await forThisFile(EnginePair.start());
const [engine] = pair.engines;
const url = withDatabase(engine.url, DATABASE);

beforeAll(async () => {
  await migrateClickhouse({ url });
});

/** One engine stands for the only replica. It has no replicas to wait for. */
async function check(
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  const { username, password, origin } = new URL(engine.url);
  const env = {
    PATH: process.env["PATH"],
    NODES: origin,
    DATABASE,
    CLICKHOUSE_USER: username,
    CLICKHOUSE_PASSWORD: password,
    ON_HOST: "bash -c",
    FREEZE: `kill -STOP ${engine.pid}`,
    THAW: `kill -CONT ${engine.pid}`,
    SYNC: "select 1",
    ROUND_S: "9",
    // Shorter than the engine is frozen, so inserts are repeated whose first copy runs later.
    ANSWER_S: "1",
    ...settings,
  };
  try {
    const { stdout } = await promisify(execFile)("bash", [SCRIPT], { env });
    return { code: 0, output: stdout };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && "stdout" in error && "stderr" in error))
      throw error;
    return { code: Number(error.code), output: `${String(error.stdout)}${String(error.stderr)}` };
  }
}

test("the check of a cluster passes when each acknowledged row is stored once", async () => {
  const { code, output } = await check({ ROUNDS: "calm freeze" });
  expect(output.replaceAll(/\d{3,}/g, "N")).toMatch(
    /^ok {3}calm: http:\/\/\S+ has each of N acknowledged rows once\nok {3}freeze: .* once\npass, ClickHouse \d+\.\d+/,
  );
  expect(code).toBe(0);
});

test("the check of a cluster fails when repeated inserts are stored twice", async () => {
  const client = openClickhouse({ url, applicationName: "test" });
  // A table without a window forgets its tokens.
  await client.command({
    query: "alter table click modify setting non_replicated_deduplication_window = 0",
  });
  await client.close();
  const { code, output } = await check({ ROUNDS: "freeze" });
  expect(output).toMatch(
    /^fail freeze: \S+ has \d+ rows of \d+ positions, \d+ were acknowledged$/m,
  );
  expect(output).toMatch(/^fail, ClickHouse/m);
  expect(code).toBe(1);
});

test("the check of a cluster refuses a database that may be a service's", async () => {
  const { code, output } = await check({ DATABASE: "tracker" });
  expect([code, output]).toEqual([2, expect.stringContaining("neither check nor test")]);
});
