import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { ChildServer } from "../system/child-server.ts";
import { residentBytes } from "../system/processes.ts";
import { freePort } from "../system/start-system.ts";
import { type BenchServers, benchReport, startBenchServers } from "./bench-servers.ts";
import { fullLoad, isOnPath, pacedP99Us, pinned } from "./load-tools.ts";
import { writeNginxConfig } from "./nginx-redirect.ts";
import { type BenchResult, quantile } from "./result.ts";

const ROUNDS = 3;
const SECONDS = 4;
/** A browser behind a trusted proxy, at an address that the geo and ASN databases know. */
const HEADERS = {
  "User-Agent":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  "X-Forwarded-For": "83.149.9.216",
  Referer: "https://www.example.org/some/page",
  "Accept-Language": "en-US,en;q=0.9",
};

/** Redirects per second and the 99th percentile of the ingress, against bare uWebSockets.js and nginx, one process each. */
export async function benchRedirects(): Promise<BenchResult[]> {
  if (!isOnPath("wrk")) return [notMeasured("redirects/s", "wrk is missing: apt-get install wrk")];
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const started: ChildServer[] = [];
  try {
    const node = await ingressNodeCommand({ runtimeDir: servers.runtimeDir, report: benchReport });
    const nodeCommand = [node.command, ...node.args];
    const bare = await startBare(nodeCommand);
    started.push(bare);
    const ingress = await startIngress(nodeCommand, servers, folder);
    started.push(ingress);
    const nginx = isOnPath("nginx") ? await startNginx(folder) : undefined;
    if (nginx !== undefined) started.push(nginx);
    const link = `${ingress.url.replace(/\/health$/, "")}${servers.linkPath}?sub1=bench&sub2=4711&source_id=a1&gclid=abc123`;
    return await measure({ bare, ingress, link, nginx });
  } finally {
    for (const server of started.reverse()) await server.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Contenders = {
  bare: ChildServer;
  ingress: ChildServer;
  link: string;
  nginx: ChildServer | undefined;
};

async function measure({ bare, ingress, link, nginx }: Contenders): Promise<BenchResult[]> {
  await fullLoad(link, 2, HEADERS);
  const rates = { bare: [] as number[], ingress: [] as number[], nginx: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push((await fullLoad(bare.url, SECONDS, HEADERS)).requestsPerSecond);
    const own = await fullLoad(link, SECONDS, HEADERS);
    if (own.failures > 0) throw new Error(`${own.failures} redirects failed`);
    rates.ingress.push(own.requestsPerSecond);
    if (nginx !== undefined)
      rates.nginx.push((await fullLoad(nginx.url, SECONDS, HEADERS)).requestsPerSecond);
  }
  const [bareRate, ownRate] = [quantile(rates.bare, 0.5), quantile(rates.ingress, 0.5)];
  const results = [compared("redirects/s vs bare uWebSockets.js", ownRate, bareRate, 0.6)];
  if (nginx === undefined)
    results.push(
      notMeasured("redirects/s vs nginx", "nginx is missing: apt-get install nginx-light"),
    );
  else
    results.push(
      compared("redirects/s vs nginx with access log", ownRate, quantile(rates.nginx, 0.5), 1),
    );
  results.push(await pacedResult(bare.url, link, ownRate / 2));
  const megabytes = residentBytes(ingress.pid) / 1024 ** 2;
  results.push({
    name: "ingress memory after the load",
    figure: `${megabytes.toFixed(0)} MB`,
    baseline: "-",
    ratio: null,
    budget: "<= 500 MB (large catalog)",
    ok: megabytes <= 500,
  });
  return results;
}

async function pacedResult(
  bareUrl: string,
  link: string,
  requestsPerSecond: number,
): Promise<BenchResult> {
  const name = "p99 of a redirect at half its rate";
  if (!isOnPath("h2load"))
    return notMeasured(name, "h2load is missing: apt-get install nghttp2-client");
  const own: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await pacedP99Us(bareUrl, { requestsPerSecond, seconds: SECONDS, headers: HEADERS }));
    own.push(await pacedP99Us(link, { requestsPerSecond, seconds: SECONDS, headers: HEADERS }));
  }
  const [ownUs, bareUs] = [quantile(own, 0.5), quantile(bare, 0.5)];
  return {
    name,
    figure: `${ownUs} µs`,
    baseline: `${bareUs} µs at ${Math.round(requestsPerSecond)}/s`,
    ratio: ownUs / bareUs,
    budget: "<= 2.00",
    ok: ownUs / bareUs <= 2,
  };
}

function compared(name: string, own: number, baseline: number, budget: number): BenchResult {
  return {
    name,
    figure: `${Math.round(own)}/s`,
    baseline: `${Math.round(baseline)}/s`,
    ratio: own / baseline,
    budget: `>= ${budget.toFixed(2)}`,
    ok: own / baseline >= budget,
  };
}

function notMeasured(name: string, why: string): BenchResult {
  return { name, figure: why, baseline: "-", ratio: null, budget: "-", ok: null };
}

async function startBare(node: readonly string[]): Promise<ChildServer> {
  const port = await freePort();
  const command = pinned(0, [
    ...node,
    projectFile("test", "bench", "bare-redirect.cjs"),
    String(port),
  ]);
  return ChildServer.start(command, `http://127.0.0.1:${port}/`);
}

async function startNginx(folder: string): Promise<ChildServer> {
  const port = await freePort();
  return ChildServer.start(
    pinned(0, ["nginx", "-c", writeNginxConfig(folder, port)]),
    `http://127.0.0.1:${port}/`,
  );
}

async function startIngress(
  node: readonly string[],
  servers: BenchServers,
  folder: string,
): Promise<ChildServer> {
  const port = await freePort();
  const command = pinned(0, [...node, projectFile(".build", "ingress", "main.js")]);
  return ChildServer.start(command, `http://127.0.0.1:${port}/health`, {
    ...servers.env,
    DATA_DIR: join(folder, "ingress"),
    TRACKING_PORT: String(port),
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
}
