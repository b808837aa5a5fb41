import { spawn } from "node:child_process";
import { join } from "node:path";
import { Demo } from "../../deploy/local/demo-file.ts";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { startNats } from "../../deploy/local/embedded-nats.ts";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import type { Report } from "../../deploy/local/report.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { freePort } from "../system/start-system.ts";

/** Real servers with a migrated schema and the demo workspace, without any process of the service. */
export type BenchServers = {
  /** POSTGRES_URL, NATS_URL, CLICKHOUSE_URL. */
  readonly env: Record<string, string>;
  readonly runtimeDir: string;
  readonly demo: Demo;
  /** Path of a tracking link of the demo workspace. */
  readonly linkPath: string;
  stop(): Promise<void>;
};

/** Prints what the servers report to standard error. */
export const benchReport: Report = {
  note: (part, text) =>
    process.stderr.write(`${part}: ${text}
`),
  warn: (part, text) =>
    process.stderr.write(`${part}: ${text}
`),
};

export async function startBenchServers(folder: string): Promise<BenchServers> {
  const runtimeDir =
    process.env["RUNTIME_DIR"] ?? projectFile("node_modules", ".cache", "tracker-runtime");
  const options = {
    dataDir: join(folder, "servers"),
    runtimeDir,
    bind: "127.0.0.1",
    report: benchReport,
  };
  const postgres = await startPostgres({ ...options, port: await freePort() });
  const nats = await startNats({ ...options, port: await freePort() });
  const clickhouse = await startClickhouse({ ...options, port: await freePort() });
  const env = { POSTGRES_URL: postgres.url, NATS_URL: nats.url, CLICKHOUSE_URL: clickhouse.url };
  const stop = async (): Promise<void> => {
    await clickhouse.stop();
    await nats.stop();
    await postgres.stop();
  };
  try {
    await tracker(env, ["migrate"]);
    const demo = Demo.parse(JSON.parse(await tracker(env, ["demo", "--json"])));
    return { env, runtimeDir, demo, linkPath: new URL(demo.links.affiliate).pathname, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function tracker(env: Record<string, string>, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [projectFile(".build", "api", "tracker.js"), ...args], {
    env: {
      // As the processes of the benches run.
      DURABILITY: "relaxed",
      ...process.env,
      TRACKING_URL: "http://127.0.0.1:8080",
      API_URL: "http://127.0.0.1:8081",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`tracker ${args.join(" ")} ended with ${String(code)}`);
  return output;
}
