import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { ChildServer } from "../system/child-server.ts";
import { freePort } from "../system/start-system.ts";
import { startBenchServers } from "./bench-servers.ts";
import { type PacedOrder, PacedResult } from "./paced-order.ts";
import type { BenchResult } from "./result.ts";
import { startApi, startIngress, startProcessors } from "./service-processes.ts";

const BUDGET = 2;
const REPORTS_PER_SECOND = 40;
const STRANGERS_PER_SECOND = Number(process.env["BENCH_STRANGERS"] ?? 300);
const SECONDS = 15;
/** The flood begins before the reports and ends after them. */
const FLOOD_SECONDS = SECONDS + 10;

type Targets = Pick<PacedOrder, "trackingUrl" | "apiUrl" | "token" | "linkPath">;

/** Reports of advertisers beside floods of strangers, against the same reports alone; one process per role (#16). */
export async function benchStrangers(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-strangers-"));
  const servers = await startBenchServers(folder);
  const started: ChildServer[] = [];
  try {
    const port = await freePort();
    started.push(await startProcessors(servers, folder));
    started.push(await startIngress(servers, folder, port));
    const api = await startApi(servers);
    started.push(api);
    const targets = {
      trackingUrl: `http://127.0.0.1:${port}`,
      apiUrl: new URL(api.url).origin,
      token: servers.demo.postback_token,
      linkPath: servers.linkPath,
    };
    // Warm up: the just-in-time compiler finishes its work.
    await reportsBeside(folder, targets, undefined);
    const results: BenchResult[] = [];
    for (const [kind, name] of [
      ["keys", "made-up keys and tokens"],
      // Last, because pixels that found no click are kept and retried, which would disturb a later phase.
      ["ad-ids", "unknown ad IDs to /px and /lp"],
    ] as const) {
      const calm = await reportsBeside(folder, targets, undefined);
      const { reports, flood } = await reportsBeside(folder, targets, kind);
      console.error(`  ${name}: ${JSON.stringify(flood)}`);
      results.push(
        compared(
          `p99 of /pb beside ${Math.round(flood?.perSecond ?? 0)}/s ${name}`,
          reports,
          calm.reports,
        ),
      );
    }
    return results;
  } finally {
    for (const server of started.reverse()) await server.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function compared(name: string, reports: PacedResult, calm: PacedResult): BenchResult {
  const { ok = 0, ...others } = reports.outcomes;
  const refusals = Object.keys(others);
  if (refusals.length > 0) console.error(`  ${ok} accepted, refused: ${JSON.stringify(others)}`);
  const ratio = reports.p99Ms / calm.p99Ms;
  const written = ({ p50Ms, p99Ms }: PacedResult): string =>
    `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`;
  return {
    name,
    figure: `${written(reports)}, ${refusals.length === 0 ? "0" : "some"} refused`,
    baseline: written(calm),
    ratio,
    budget: `<= ${BUDGET.toFixed(2)}, 0 refused`,
    ok: ratio <= BUDGET && refusals.length === 0,
  };
}

async function reportsBeside(
  folder: string,
  targets: Targets,
  kind: "ad-ids" | "keys" | undefined,
): Promise<{ readonly reports: PacedResult; readonly flood: PacedResult | undefined }> {
  const reports = await Sender.start(folder, {
    ...targets,
    kind: "reports",
    perSecond: REPORTS_PER_SECOND,
    seconds: SECONDS,
  });
  const flood =
    kind === undefined
      ? undefined
      : await Sender.start(folder, {
          ...targets,
          kind,
          perSecond: STRANGERS_PER_SECOND,
          seconds: FLOOD_SECONDS,
        });
  flood?.go();
  if (flood !== undefined) await new Promise((resolve) => setTimeout(resolve, 3_000));
  reports.go();
  return { reports: await reports.result, flood: await flood?.result };
}

/** A process that prepares its requests, and sends them after `go()`. */
class Sender {
  readonly result: Promise<PacedResult>;
  readonly go: () => void;

  private constructor(result: Promise<PacedResult>, go: () => void) {
    this.result = result;
    this.go = go;
  }

  static async start(folder: string, order: PacedOrder): Promise<Sender> {
    const path = join(folder, `${order.kind}.json`);
    await writeFile(path, JSON.stringify(order));
    const script = projectFile(".build", "test", "bench", "paced-sender.js");
    const child = spawn(process.execPath, [script, path], { stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes("\n")) resolve();
      });
      child.once("error", reject);
      child.once("close", () => reject(new Error("the sender ended before it was ready")));
    });
    const result = new Promise<PacedResult>((resolve, reject) => {
      child.once("close", (code) => {
        if (code !== 0) reject(new Error(`the sender ended with ${String(code)}`));
        else resolve(PacedResult.parse(JSON.parse(output.slice(output.indexOf("\n") + 1))));
      });
    });
    result.catch(() => undefined);
    await ready;
    return new Sender(result, () => void child.stdin.end());
  }
}
