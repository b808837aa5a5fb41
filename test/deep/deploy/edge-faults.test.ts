import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import { metricAt } from "../../services/metric-at.ts";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { freePort } from "../../system/start-system.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { until } from "../../system/until.ts";
import { askEdge, type EdgeAnswer } from "./edge-client.ts";
import { EDGES, type EdgeName, isInstalled, startEdge } from "./edge-servers.ts";

const SERVED = "go.acme.example";
const API_HOST = "api.example.com";
const LINK = "/r/OFFER1/PARTNR";
const PATIENCE = { timeoutMs: 30_000, pollMs: 200 };
/** Full after some clicks, because no writer confirms any. */
const DISK_MB = 4;
const FILLER = "x".repeat(250);
/** Long enough for both edges to see several failed checks. */
const SEEN_MS = 4_000;

let folder: string;
let disk: string;
let fleet: IngressFleet;
let gate: TcpGate;
let consent: Server;
const edges = new Map<EdgeName, { readonly port: number; readonly child: ChildProcess }>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-edge-"));
  disk = await mkdtemp(join(tmpdir(), "tracker-disk-"));
  const mount = ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk];
  const { status, stderr } = spawnSync("mount", mount, { encoding: "utf8" });
  if (status !== 0) throw new Error(`a file system of ${DISK_MB} MB is needed: ${stderr}`);
  fleet = await IngressFleet.open({ processes: 0, env: { TRUSTED_PROXIES: "127.0.0.1/32" } });
  const { world } = fleet;
  await world.addOffer();
  await world.insert("tracking_domain", { workspace_id: world.workspaceId, host: SERVED });
  gate = await TcpGate.open(world.env.NATS_URL);
  await fleet.addIngress({ DATA_DIR: disk, NATS_URL: gate.urlOf(world.env.NATS_URL) });
  await fleet.untilCurrent();
  // Every name may have a certificate; edge.test.ts is about the real question.
  consent = createServer((_, response) => response.end());
  consent.listen(0, "127.0.0.1");
  await once(consent, "listening");
  for (const name of EDGES.filter(isInstalled)) {
    const port = await freePort();
    const child = await startEdge(name, {
      folder: await mkdtemp(join(folder, name)),
      port,
      names: { served: SERVED, api: API_HOST },
      ingressPort: fleet.port,
      apiPort: portOf(consent),
      tlsAsk: `http://127.0.0.1:${portOf(consent)}/`,
    });
    edges.set(name, { port, child });
    await until(`${name} serves`, async () => (await click(name)).status === 302, PATIENCE);
  }
}, 120_000);

afterAll(async () => {
  for (const { child } of edges.values()) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  consent.close();
  await fleet[Symbol.asyncDispose]();
  await gate.shut();
  spawnSync("umount", [disk]);
  for (const path of [folder, disk]) await rm(path, { recursive: true, force: true });
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

async function click(name: EdgeName, sub1 = ""): Promise<EdgeAnswer> {
  const port = edges.get(name)?.port ?? 0;
  const request = { port, host: SERVED, path: `${LINK}?sub1=${sub1}&sub3=${FILLER}` };
  return await askEdge(name === "haproxy" ? { ...request, proxied: "203.0.113.9" } : request);
}

async function health(): Promise<number> {
  return (await fetch(`http://127.0.0.1:${fleet.port}/health`)).status;
}

async function metric(name: string): Promise<number> {
  const [opsPort = 0] = fleet.opsPorts;
  return await metricAt(opsPort, name);
}

/** Without an edge nothing would be asked, and nothing could be wrong. */
function skipWithoutEdges(context: TestContext): void {
  context.skip(edges.size === 0, `none is installed: Debian packages ${EDGES.join(", ")}`);
}

/** Clicks through each edge for longer than its checks take. Returns the answers that are no redirects, and the slowest answer. */
async function visit(
  run: string,
): Promise<{ readonly wrong: string[]; readonly slowestMs: number }> {
  const wrong: string[] = [];
  let slowestMs = 0;
  const endAtMs = performance.now() + SEEN_MS;
  const each = async (name: EdgeName): Promise<void> => {
    while (performance.now() < endAtMs) {
      const startedAtMs = performance.now();
      const { status } = await click(name, run);
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      if (status !== 302) wrong.push(`${name}: ${status}`);
    }
  };
  await Promise.all([...edges.keys()].map(each));
  return { wrong, slowestMs };
}

test("every edge of the examples is installed, or the test says which is missing", (context) => {
  const missing = EDGES.filter((name) => !isInstalled(name));
  context.skip(missing.length > 0, `Debian packages are missing: ${missing.join(", ")}`);
  expect([...edges.keys()]).toEqual([...EDGES]);
});

test.for(EDGES)(
  "%s sends a GET again whose connection broke, and a POST never (G267)",
  async (name, context) => {
    context.skip(!edges.has(name), `${name} is missing: apt-get install ${name}`);
    const seen: string[] = [];
    await using backend = createServer((request, response) => {
      const { method = "", url, socket } = request;
      if (url === "/health") {
        response.end();
        return;
      }
      seen.push(method);
      const isFirst = seen.filter((one) => one === method).length === 1;
      if (isFirst) request.on("end", () => socket.destroy()).resume();
      else response.writeHead(302, { location: "https://shop.example/" }).end();
    });
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    const port = await freePort();
    const child = await startEdge(name, {
      folder: await mkdtemp(join(folder, `${name}-broken`)),
      port,
      names: { served: SERVED, api: API_HOST },
      ingressPort: portOf(backend),
      apiPort: portOf(consent),
      tlsAsk: `http://127.0.0.1:${portOf(consent)}/`,
    });
    const ask = async (host: string, path: string, sent?: Buffer): Promise<number> => {
      const request = { port, host, path, ...(sent === undefined ? {} : { sent }) };
      return (await askEdge(name === "haproxy" ? { ...request, proxied: "203.0.113.9" } : request))
        .status;
    };
    try {
      await until(`${name} serves`, async () => (await ask(API_HOST, "/")) === 200, PATIENCE);
      const statuses = [await ask(SERVED, LINK), await ask(SERVED, "/pb", Buffer.from("txid=1"))];
      expect([statuses, seen]).toEqual([
        [302, 502],
        ["GET", "GET", "POST"],
      ]);
    } finally {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      backend.closeAllConnections();
    }
  },
);

test("a sync of the journal fails and NATS takes the clicks: /health stays 200 (P6)", async (context) => {
  const isTraced = spawnSync("strace", ["-V"]).error === undefined;
  context.skip(!isTraced, "strace is missing (Debian package strace)");
  skipWithoutEdges(context);
  const [pid = 0] = fleet.pids;
  const fault = "inject=fdatasync,fsync,msync:error=EIO";
  const strace = spawn("strace", ["-f", "-qq", "-p", String(pid), "-e", fault], {
    stdio: "ignore",
  });
  try {
    const seen = new Set<number>();
    await until(
      "syncs have failed",
      async () => {
        await fetch(`http://127.0.0.1:${fleet.port}${LINK}`, { redirect: "manual" });
        seen.add(await health());
        return (await metric("ingress_journal_sync_faults_total")) > 2;
      },
      PATIENCE,
    );
    const { wrong } = await visit("sync");
    seen.add(await health());
    expect([[...seen], wrong]).toEqual([[200], []]);
    // Then the records are nowhere safe, and another host would do better.
    await gate.shut();
    const during = await visit("nowhere-synced");
    expect([await health(), during.wrong]).toEqual([503, []]);
  } finally {
    strace.kill("SIGINT");
    await once(strace, "exit");
    await gate.open();
  }
  await until("all is shipped", async () => (await health()) === 200, PATIENCE);
}, 120_000);

test("with a full journal and NATS cut off /health is 503, and every edge still redirects (P6)", async (context) => {
  skipWithoutEdges(context);
  let filled = 0;
  while ((await metric("ingress_journal_write_faults_total")) === 0) {
    for (let i = 0; i < 200; i += 1)
      await fetch(`http://127.0.0.1:${fleet.port}${LINK}?sub1=fill&sub3=${FILLER}&sub4=${FILLER}`, {
        redirect: "manual",
      });
    filled += 200;
    if (filled > 30_000) throw new Error("the journal does not fill up");
  }
  await gate.shut();
  try {
    const { wrong, slowestMs } = await visit("full");
    expect([await health(), wrong]).toEqual([503, []]);
    expect(await metric("ingress_clicks_unrecorded_total")).toBeGreaterThan(0);
    // 150 ms for NATS, 100 ms until Caddy fails open, and what a busy machine needs.
    expect(slowestMs).toBeLessThan(2_000);
  } finally {
    await gate.open();
  }
  await until("all is shipped", async () => (await health()) === 200, PATIENCE);
  const { wrong } = await visit("after");
  expect(wrong).toEqual([]);
}, 180_000);
