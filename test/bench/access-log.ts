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

/** `traced`: no access log, and tracing with a collector that is away. */
const CHOICES = ["off", "errors", "all", "traced"] as const;
type Choice = (typeof CHOICES)[number];

/** Each time with new processes, because a process keeps the machine code that it happened to get. */
const STARTS = 3;
const ROUNDS = 10;
const SECONDS = 1;
const IDLE_MS = 3_000;
/** Other work on the machine only ever adds to a figure. */
const QUIET = 0.25;
const BUDGET = 1.03;
/** Nothing listens there. */
const NO_COLLECTOR = "http://127.0.0.1:9";

/**
 * Processor time of a redirect with an access log, and with tracing, against one without. The processes of all choices run side by side;
 * each round loads one after the other, in another order. The figure is the median of the ratios of all starts.
 */
export async function benchAccessLog(): Promise<BenchResult[]> {
  const name = "processor time of a redirect, access log";
  if (!isOnPath("wrk")) {
    const figure = "wrk is missing: apt-get install wrk";
    return [{ name, figure, baseline: "-", ratio: null, budget: "-", ok: null }];
  }
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  try {
    const starts: Costs[] = [];
    for (let start = 0; start < STARTS; start += 1)
      starts.push(await measureOneStart(servers, join(folder, String(start))));
    return resultsOf(name, starts);
  } finally {
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Microseconds of processor time of a redirect. */
type Costs = Readonly<Record<Choice, number>>;

async function measureOneStart(servers: BenchServers, folder: string): Promise<Costs> {
  const started = new Map<Choice, { readonly port: number; readonly ingress: ChildServer }>();
  try {
    for (const choice of CHOICES) {
      const port = await freePort();
      started.set(choice, { port, ingress: await startIngress(servers, { folder, port, choice }) });
    }
    return await measure(servers.linkPath, started);
  } finally {
    for (const { ingress } of started.values()) await ingress.end();
  }
}

async function startIngress(
  { env, runtimeDir }: BenchServers,
  { folder, port, choice }: { folder: string; port: number; choice: Choice },
): Promise<ChildServer> {
  const node = await ingressNodeCommand({ runtimeDir, report: benchReport, ifMissing: "download" });
  const program = [node.command, ...node.args, projectFile(".build", "ingress", "main.js")];
  return await ChildServer.start(pinned(0, program), `http://127.0.0.1:${port}/health`, {
    ...env,
    DATA_DIR: join(folder, `ingress-${choice}`),
    TRACKING_PORT: String(port),
    TRUSTED_PROXIES: "127.0.0.1/32",
    OPS_PORT: "0",
    LOG_LEVEL: "warn",
    ACCESS_LOG: choice === "traced" ? "off" : choice,
    ...(choice === "traced" ? { OTEL_EXPORTER_OTLP_ENDPOINT: NO_COLLECTOR } : {}),
    ACCESS_LOG_FILE: join(folder, `access-${choice}.log`),
  });
}

async function measure(
  linkPath: string,
  started: ReadonlyMap<Choice, { readonly port: number; readonly ingress: ChildServer }>,
): Promise<Costs> {
  const stages = [...started].map(([choice, { ingress }]): [Choice, number[]] => [
    choice,
    [ingress.pid],
  ]);
  const times = new StageTimes(new Map(stages));
  await times.measureIdle(IDLE_MS);
  const costs = new Map(CHOICES.map((choice) => [choice, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (let at = 0; at < CHOICES.length; at += 1) {
      const choice = CHOICES[(at + round) % CHOICES.length] ?? "off";
      const measured = times.start();
      const url = `http://127.0.0.1:${started.get(choice)?.port ?? 0}${clickPath(linkPath, 4_711)}`;
      const load = await fullLoad(url, SECONDS, headersOf(ONE_VISITOR));
      if (load.failures > 0) throw new Error(`${load.failures} redirects failed`);
      const micros = measured().get(choice) ?? Number.NaN;
      // The first round warms up.
      if (round > 0) costs.get(choice)?.push(micros / (load.requestsPerSecond * SECONDS));
    }
  }
  const quiet = (choice: Choice): number => quantile(costs.get(choice) ?? [], QUIET);
  return { off: quiet("off"), errors: quiet("errors"), all: quiet("all"), traced: quiet("traced") };
}

function resultsOf(name: string, starts: readonly Costs[]): BenchResult[] {
  const median = (of: (costs: Costs) => number): number => quantile(starts.map(of), 0.5);
  return (["errors", "all", "traced"] as const).map((choice) => {
    const ratio = median((costs) => costs[choice] / costs.off);
    return {
      name: choice === "traced" ? "the same, tracing one in 10,000" : `${name} ${choice}`,
      figure: `${median((costs) => costs[choice]).toFixed(2)} µs`,
      baseline: `${median(({ off }) => off).toFixed(2)} µs`,
      ratio,
      budget: `<= ${BUDGET.toFixed(2)}`,
      ok: ratio <= BUDGET,
    };
  });
}
