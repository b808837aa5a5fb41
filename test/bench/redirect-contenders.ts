import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { decodeSegment } from "../../ingress/journal/frame.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { ChildServer } from "../system/child-server.ts";
import { findProcesses } from "../system/processes.ts";
import { freePort } from "../system/start-system.ts";
import { type BenchServers, benchReport, startBenchServers } from "./bench-servers.ts";
import { addLinks, type BenchLink } from "./catalog-fill.ts";
import type { FloorOrder } from "./floor-order.ts";
import { fullLoad, isOnPath, pinned } from "./load-tools.ts";
import { writeNginxConfig } from "./nginx-redirect.ts";
import { clickPath, headersOf, ONE_VISITOR } from "./request-texts.ts";

const OFFERS = 100;
const AFFILIATES = 50;
const WARM_UP_SECONDS = 2;

/** A server on the first core that answers redirects. */
export type Contender = {
  readonly origin: string;
  readonly port: number;
  /** A link that it redirects. */
  readonly path: string;
  readonly pid: number;
};

export type RedirectContenders = AsyncDisposable & {
  readonly ingress: Contender;
  readonly floor: Contender;
  readonly bare: Contender;
  /** Undefined if it is not installed. */
  readonly nginx: Contender | undefined;
  /** 5,000 links of the ingress. */
  readonly links: readonly BenchLink[];
  /** Mean size of a record in the journal of the ingress. */
  readonly recordBytes: number;
};

/** Starts all of them, each on the first core. NATS runs next to the load generator on the second. */
export async function openContenders(folder: string): Promise<RedirectContenders> {
  const servers = await startBenchServers(folder);
  const started: ChildServer[] = [];
  const close = async (): Promise<void> => {
    for (const server of started.reverse()) await server.end();
    await servers.stop();
  };
  const start = async (command: readonly string[], port: number, env = {}): Promise<Contender> => {
    const origin = `http://127.0.0.1:${port}`;
    const server = await ChildServer.start(pinned(0, command), `${origin}/health`, env);
    started.push(server);
    return { origin, port, path: "/", pid: server.pid };
  };
  try {
    const node = await ingressNodeCommand({
      runtimeDir: servers.runtimeDir,
      report: benchReport,
      ifMissing: "download",
    });
    const nodeCommand = [node.command, ...node.args];
    const pool = openPool({ url: servers.env["POSTGRES_URL"] ?? "", applicationName: "bench" });
    const links = await addLinks(pool, { offers: OFFERS, affiliates: AFFILIATES });
    await pool.end();
    for (const pid of await findProcesses(folder, "nats")) moveToCore(1, pid);
    const dataDir = join(folder, "ingress");
    const ingress = await startIngress(start, nodeCommand, { servers, dataDir });
    const { headers, recordBytes } = await observe(ingress, dataDir);
    const floorOrder = {
      port: await freePort(),
      folder: join(folder, "floor"),
      recordBytes,
      headers,
    };
    const floor = await startFloor(start, nodeCommand, { folder, order: floorOrder });
    const bare = await startBare(start, nodeCommand);
    const nginx = isOnPath("nginx") ? await startNginx(start, folder) : undefined;
    const all = { ingress, floor: { ...floor, path: ingress.path }, bare, nginx };
    return { ...all, links, recordBytes, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Start = (command: readonly string[], port: number, env?: object) => Promise<Contender>;

async function startIngress(
  start: Start,
  node: readonly string[],
  { servers, dataDir }: { readonly servers: BenchServers; readonly dataDir: string },
): Promise<Contender> {
  const port = await freePort();
  const ingress = await start([...node, projectFile(".build", "ingress", "main.js")], port, {
    ...servers.env,
    DATA_DIR: dataDir,
    TRACKING_PORT: String(port),
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
  return { ...ingress, path: clickPath(servers.linkPath, 4_711) };
}

/** The headers of a redirect, and the size of a record, after some load. */
async function observe(
  { origin, path }: Contender,
  dataDir: string,
): Promise<Pick<FloorOrder, "headers" | "recordBytes">> {
  const url = `${origin}${path}`;
  await fullLoad(url, WARM_UP_SECONDS, headersOf(ONE_VISITOR));
  return {
    headers: await headersOfAnswer(url),
    recordBytes: recordBytesIn(join(dataDir, "journal")),
  };
}

/** The headers that the ingress itself adds, in order. */
async function headersOfAnswer(url: string): Promise<[string, string][]> {
  const raw = await new Promise<string[]>((resolve, reject) => {
    request(url, { headers: headersOf(ONE_VISITOR) }, (answer) => {
      answer.resume();
      resolve(answer.rawHeaders);
    })
      .on("error", reject)
      .end();
  });
  const pairs = Array.from({ length: raw.length / 2 }, (_, n): [string, string] => [
    raw[2 * n] ?? "",
    raw[2 * n + 1] ?? "",
  ]);
  // The server library adds these.
  return pairs.filter(([name]) => !/^(content-length|date|connection)$/i.test(name));
}

function recordBytesIn(journal: string): number {
  const files = readdirSync(journal, { recursive: true, encoding: "utf8" });
  const segment = files
    .filter((name) => name.endsWith(".wal"))
    .sort()
    .at(-1);
  if (segment === undefined) throw new Error(`no segment in ${journal}`);
  const { records } = decodeSegment(readFileSync(join(journal, segment)));
  const bytes = records.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0);
  return Math.round(bytes / records.length);
}

async function startFloor(
  start: Start,
  node: readonly string[],
  { folder, order }: { readonly folder: string; readonly order: FloorOrder },
): Promise<Contender> {
  const file = join(folder, "floor.json");
  await writeFile(file, JSON.stringify(order));
  const program = projectFile(".build", "test", "bench", "floor-redirect.js");
  return await start([...node, program, file], order.port);
}

async function startBare(start: Start, node: readonly string[]): Promise<Contender> {
  const port = await freePort();
  const program = projectFile("test", "bench", "bare-redirect.cjs");
  return await start([...node, program, String(port)], port);
}

async function startNginx(start: Start, folder: string): Promise<Contender> {
  const port = await freePort();
  return await start(["nginx", "-c", writeNginxConfig(folder, port)], port);
}

/** Moves a process with all its threads. */
function moveToCore(core: number, pid: number): void {
  if (isOnPath("taskset")) spawnSync("taskset", ["-acp", String(core), String(pid)]);
}
