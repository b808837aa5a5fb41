import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { ChildServer } from "../system/child-server.ts";
import { freePort } from "../system/start-system.ts";
import { type BenchServers, benchReport, startBenchServers } from "./bench-servers.ts";
import { fullLoad, isOnPath, pinned } from "./load-tools.ts";
import { clickPath, headersOf, ONE_VISITOR } from "./request-texts.ts";
import { type BenchResult, quantile } from "./result.ts";
import { StageTimes } from "./stage-times.ts";

const CHOICES = ["off", "errors", "all"] as const;
type Choice = (typeof CHOICES)[number];

const ROUNDS = 15;
const SECONDS = 2;
const IDLE_MS = 5_000;
const BUDGET = 1.03;

/**
 * Processor time of a redirect with an access log, against one without. The processes of all choices run side by side; each round
 * loads one after the other, and the figure is the median of the rounds' ratios.
 */
export async function benchAccessLog(): Promise<BenchResult[]> {
  const name = "processor time of a redirect, access log";
  if (!isOnPath("wrk")) {
    const figure = "wrk is missing: apt-get install wrk";
    return [{ name, figure, baseline: "-", ratio: null, budget: "-", ok: null }];
  }
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const started: ChildServer[] = [];
  try {
    const ports = new Map<Choice, { readonly port: number; readonly pid: number }>();
    for (const choice of CHOICES) {
      const port = await freePort();
      const ingress = await startIngress(servers, { folder, port, choice });
      started.push(ingress);
      ports.set(choice, { port, pid: ingress.pid });
    }
    return await measure(name, servers.linkPath, ports);
  } finally {
    for (const ingress of started) await ingress.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startIngress(
  { env, runtimeDir }: BenchServers,
  { folder, port, choice }: { folder: string; port: number; choice: Choice },
): Promise<ChildServer> {
  const node = await ingressNodeCommand({ runtimeDir, report: benchReport });
  const program = [node.command, ...node.args, projectFile(".build", "ingress", "main.js")];
  return await ChildServer.start(pinned(0, program), `http://127.0.0.1:${port}/health`, {
    ...env,
    DATA_DIR: join(folder, `ingress-${choice}`),
    TRACKING_PORT: String(port),
    TRUSTED_PROXIES: "127.0.0.1/32",
    OPS_PORT: "0",
    LOG_LEVEL: "warn",
    ACCESS_LOG: choice,
    ACCESS_LOG_FILE: join(folder, `access-${choice}.log`),
  });
}

async function measure(
  name: string,
  linkPath: string,
  ports: ReadonlyMap<Choice, { readonly port: number; readonly pid: number }>,
): Promise<BenchResult[]> {
  const stages = [...ports].map(([choice, { pid }]): [Choice, number[]] => [choice, [pid]]);
  const times = new StageTimes(new Map(stages));
  await times.measureIdle(IDLE_MS);
  const cost: Record<Choice, number[]> = { off: [], errors: [], all: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [choice, { port }] of ports) {
      const measured = times.start();
      const url = `http://127.0.0.1:${port}${clickPath(linkPath, 4_711)}`;
      const load = await fullLoad(url, SECONDS, headersOf(ONE_VISITOR));
      if (load.failures > 0) throw new Error(`${load.failures} redirects failed`);
      const micros = measured().get(choice) ?? Number.NaN;
      // The first round warms up.
      if (round > 0) cost[choice].push(micros / (load.requestsPerSecond * SECONDS));
    }
  }
  return (["errors", "all"] as const).map((choice) => {
    const ratios = cost[choice].map((own, at) => own / (cost.off[at] ?? Number.NaN));
    const ratio = quantile(ratios, 0.5);
    return {
      name: `${name} ${choice}`,
      figure: `${quantile(cost[choice], 0.5).toFixed(2)} µs`,
      baseline: `${quantile(cost.off, 0.5).toFixed(2)} µs`,
      ratio,
      budget: `<= ${BUDGET.toFixed(2)}`,
      ok: ratio <= BUDGET,
    };
  });
}
