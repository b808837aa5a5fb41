import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, get, IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { FILE_BYTES_MAX } from "../../../api/workspace/imports/receive-import.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { askEdge, type EdgeAnswer, FORGED_HEADERS } from "./edge-client.ts";

const SERVED = "go.example.com";
const API_HOST = "api.example.com";
const STRANGER = "stranger.example";
const OPERATIONS = [
  "/metrics",
  "/healthz",
  "/readyz",
  "/status/x",
  "/tls-ask?domain=x",
  "//metrics",
];
const MIB = 2 ** 20;
const REFUSED = /alert|unrecognized name/;
const Echo = z.object({
  headers: z.record(z.string(), z.string()),
  bytes: z.int(),
  version: z.string(),
  url: z.string(),
});

const isMissing = spawnSync("nginx", ["-v"]).error !== undefined;
if (isMissing)
  process.stderr.write("skipped: nginx at the edge: it is missing (apt-get install nginx-light)\n");

/** A backend of a test, which answers as `answer` says and counts its connections and requests. */
class Backend implements AsyncDisposable {
  readonly port: number;
  readonly server: Server;
  readonly requests: string[] = [];
  connections = 0;

  private constructor(
    port: number,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    this.port = port;
    this.server = createServer((request, response) => {
      this.requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
      answer(request, response);
    });
    this.server.on("connection", () => (this.connections += 1));
  }

  static async open(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    port?: number,
  ): Promise<Backend> {
    const backend = new Backend(port ?? (await freePort()), answer);
    backend.server.listen(backend.port, "127.0.0.1");
    await once(backend.server, "listening");
    return backend;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on("data", (piece: Buffer) => (bytes += piece.byteLength));
  request.on("end", () => {
    const { headers, httpVersion: version, url } = request;
    response.end(JSON.stringify({ headers, bytes, version, url }));
  });
}

function breakOff(request: IncomingMessage): void {
  request.on("end", () => request.socket.destroy()).resume();
}

const running: { readonly child: ChildProcess; readonly folder: string }[] = [];
let certificates: string;

beforeAll(async () => {
  certificates = await mkdtemp(join(tmpdir(), "tracker-nginx-certs-"));
  for (const host of [SERVED, API_HOST]) {
    const made = spawnSync(
      "openssl",
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"].concat([
        ...["-days", "2", "-subj", "/CN=edge", "-addext", `subjectAltName=DNS:${host}`],
        ...[
          "-keyout",
          join(certificates, `${host}.key`),
          "-out",
          join(certificates, `${host}.pem`),
        ],
      ]),
      { encoding: "utf8" },
    );
    if (made.status !== 0) throw new Error(made.stderr);
  }
});
afterEach(async () => {
  for (const { child, folder } of running.splice(0)) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    await rm(folder, { recursive: true, force: true });
  }
});
afterAll(async () => {
  await rm(certificates, { recursive: true, force: true });
});

type Ports = { readonly tls: number; readonly plain: number };

/** Starts nginx with its example, which differs in ports, servers, certificates and folders only. */
async function startNginx(upstreams: {
  readonly ingress: readonly number[];
  readonly api: number;
}): Promise<Ports> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-nginx-"));
  const ports = { tls: await freePort(), plain: await freePort() };
  const portsOf = (port: string): readonly number[] =>
    port === "8080" ? upstreams.ingress : [upstreams.api];
  const example = await readFile(projectFile("deploy", "edge", "nginx.conf"), "utf8");
  const config = example
    .replace("user www-data;", `user root;\ndaemon off;\npid ${folder}/nginx.pid;`)
    .replace(
      "http {",
      `http {\n${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n")}`,
    )
    .replaceAll("listen 443 ", `listen 127.0.0.1:${ports.tls} `)
    .replaceAll(/listen 80\b/g, `listen 127.0.0.1:${ports.plain}`)
    .replaceAll("/etc/nginx/certs", certificates)
    // Each server of the example, as often as the test has servers.
    .replaceAll(/server 127\.0\.0\.1:(808[01]) (.+;)/g, (_, port: string, how: string) =>
      portsOf(port)
        .map((own) => `server 127.0.0.1:${own} ${how}`)
        .join("\n"),
    );
  const file = join(folder, "nginx.conf");
  await writeFile(file, config);
  await mkdir(join(folder, "logs"));
  const child = spawn("nginx", ["-p", folder, "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (piece: Buffer) => (said += piece.toString()));
  running.push({ child, folder });
  await until("nginx listens", async () => {
    if (child.exitCode !== null) throw new Error(said);
    return (await ask(ports, API_HOST, "/")).status > 0;
  });
  return ports;
}

const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

async function ask(
  { tls }: Ports,
  host: string,
  path: string,
  more: Partial<Parameters<typeof askEdge>[0]> = {},
): Promise<EdgeAnswer> {
  return await askEdge({ port: tls, host, path, ...more });
}

test.skipIf(isMissing)(
  "nginx serves a link with ingress behind it, and refuses a name without a certificate (24)",
  async () => {
    await using fleet = await IngressFleet.open({ env: { TRUSTED_PROXIES: "127.0.0.1/32" } });
    const { world } = fleet;
    await world.addOffer();
    await world.insert("tracking_domain", { workspace_id: world.workspaceId, host: SERVED });
    await fleet.untilCurrent();
    await using api = await Backend.open(echo);
    const ports = await startNginx({ ingress: [fleet.port], api: api.port });
    const from = "127.0.0.2";
    const sub1 = `nginx${Date.now().toString(36)}`;
    const path = `/r/OFFER1/PARTNR?sub1=${sub1}`;
    const answer = await ask(ports, SERVED, path, { from, headers: FORGED_HEADERS });
    expect(answer.status).toBe(302);
    expect(answer.names).toContain(`DNS:${SERVED}`);
    const [shipped] = await fleet.untilShipped(1, (click) => click.sub1 === sub1);
    expect(shipped?.click.ip).toBe(from);
    await expect(ask(ports, STRANGER, "/")).rejects.toThrow(REFUSED);
    for (const host of [SERVED, API_HOST]) {
      for (const operation of OPERATIONS) {
        const { status, body } = await ask(ports, host, operation);
        expect(status, `${host}${operation}`).toBe(404);
        // An answer of a backend is JSON.
        expect(body.includes("{"), `${host}${operation}`).toBe(false);
      }
    }
  },
);

test.skipIf(isMissing)(
  "nginx replaces forged headers, keeps paths, and keeps its connections by HTTP/1.1 (24)",
  async () => {
    await using api = await Backend.open(echo);
    const ports = await startNginx({ ingress: [api.port], api: api.port });
    const path = "/api/v1/me?u=a%2Fb%20c&e=%7B%7D//";
    const seen = async (): Promise<z.infer<typeof Echo>> =>
      Echo.parse(JSON.parse((await ask(ports, API_HOST, path, { headers: FORGED_HEADERS })).body));
    const { headers, version, url } = await seen();
    expect([version, url]).toEqual(["1.1", path]);
    expect(headers).toMatchObject({
      host: API_HOST,
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "https",
    });
    expect(headers["x-request-id"]).toMatch(/^[\w-]{8,64}$/);
    expect(headers["x-request-id"]).not.toBe("forged-by-the-client");
    expect(Object.keys(headers)).not.toContain("x-real-ip");
    expect(Object.keys(headers)).not.toContain("forwarded");
    const other = await seen();
    expect(other.headers["x-request-id"]).not.toBe(headers["x-request-id"]);
    const before = api.connections;
    for (let turn = 0; turn < 20; turn += 1) await seen();
    // A worker of nginx keeps its own connections.
    expect(api.connections - before).toBeLessThan(20);
  },
);

test.skipIf(isMissing)(
  "nginx passes a file of 64 MiB to the import of the API, and 1 MiB elsewhere (24)",
  async () => {
    await using api = await Backend.open(echo);
    const ports = await startNginx({ ingress: [api.port], api: api.port });
    const sent = Buffer.alloc(FILE_BYTES_MAX, "name\n");
    const answer = await ask(ports, API_HOST, "/api/v1/imports", { sent });
    expect(Echo.parse(JSON.parse(answer.body)).bytes).toBe(FILE_BYTES_MAX);
    for (const host of [API_HOST, SERVED]) {
      const small = await ask(ports, host, "/pb", { sent: sent.subarray(0, MIB) });
      expect(small.status).toBe(200);
      const large = await ask(ports, host, "/pb", { sent: sent.subarray(0, MIB + 1) });
      expect(large.status).toBe(413);
    }
  },
);

test.skipIf(isMissing)("nginx never sends a POST twice, and a GET once more (24)", async () => {
  await using one = await Backend.open(breakOff);
  await using other = await Backend.open(breakOff);
  await using api = await Backend.open(echo);
  const ports = await startNginx({ ingress: [one.port, other.port], api: api.port });
  const sent = Buffer.from("txid=1");
  expect((await ask(ports, SERVED, "/pb", { sent })).status).toBe(502);
  expect((await ask(ports, SERVED, "/r/A/B")).status).toBe(502);
  const requests = [...one.requests, ...other.requests];
  expect(requests.filter((request) => request === "POST /pb")).toHaveLength(1);
  expect(requests.filter((request) => request === "GET /r/A/B")).toHaveLength(2);
});

test.skipIf(isMissing)(
  "nginx goes past a server that refuses, and asks all when all have failed (24)",
  async () => {
    const gone = await freePort();
    await using api = await Backend.open(echo);
    const port = await freePort();
    const ports = await startNginx({ ingress: [gone, port], api: api.port });
    const status = async (path: string): Promise<number> => (await ask(ports, SERVED, path)).status;
    const sent = Buffer.from("txid=1");
    {
      await using one = await Backend.open(echo, port);
      for (let turn = 0; turn < 10; turn += 1) {
        expect(await status(`/r/${turn}`)).toBe(200);
        // No connection came about, so nothing was sent.
        expect((await ask(ports, SERVED, "/pb", { sent })).status).toBe(200);
      }
      expect(one.requests).toHaveLength(20);
    }
    // Both are marked as failed by now.
    for (let turn = 0; turn < 10; turn += 1) expect(await status("/r/none")).toBe(502);
    await using back = await Backend.open(echo, port);
    expect(await status("/r/back")).toBe(200);
    expect(back.requests).toEqual(["GET /r/back"]);
  },
);

test.skipIf(isMissing)(
  "nginx answers http for links, and 404 for the API in the open (24)",
  async () => {
    await using api = await Backend.open(echo);
    await using ingress = await Backend.open(echo);
    const { plain } = await startNginx({ ingress: [ingress.port], api: api.port });
    const asked = async (host: string): Promise<{ status: number | undefined; body: string }> => {
      const request = get({ host: "127.0.0.1", port: plain, path: "/r/A/B", headers: { host } });
      const [answer] = z
        .tuple([z.instanceof(IncomingMessage)])
        .parse(await once(request, "response"));
      return { status: answer.statusCode, body: await text(answer) };
    };
    const { headers } = Echo.parse(JSON.parse((await asked(SERVED)).body));
    expect(headers["x-forwarded-proto"]).toBe("http");
    expect((await asked(API_HOST)).status).toBe(404);
    expect(ingress.requests).toHaveLength(1);
  },
);
