import assert from "node:assert";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { hostname } from "node:os";
import { isLoopbackHost } from "../net/loopback-host.ts";
import { isLoopbackAddress } from "../net/public-address.ts";
import { buildInfo } from "./build-info.ts";
import type { Lifetime } from "./lifetime.ts";
import type { Metrics } from "./metrics.ts";

/** What `/status` returns besides the facts of every process. Never a secret, a visitor or a workspace. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** By what other processes and the operator tell this process from others. */
export type ProcessIdentity = {
  /** Another one at each start. */
  readonly id: string;
  readonly role: "ingress" | "processors" | "api";
  /** The same after a restart: a configured name, else the role and the operations port. Unique on its host. */
  readonly name: string;
  readonly host: string;
  readonly opsPort: number;
  /** UTC ms. */
  readonly startedAtMs: number;
};

export type OpsServerOptions = {
  readonly role: ProcessIdentity["role"];
  /** PROCESSOR_NAME. Default: the role and the port. */
  readonly name?: string | undefined;
  readonly bind: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Where the port comes from, for the message of a port that cannot be used. */
  readonly portSetting?: string | undefined;
  readonly metrics: Metrics;
  readonly lifetime: Pick<Lifetime, "isDraining">;
};

/** What the process says about itself once it works. */
export type Report = {
  /** False while it cannot do its work, besides starting and draining. */
  readonly isReady: () => boolean;
  readonly facts: () => Facts;
};

const REQUEST_TIMEOUT_MS = 5_000;
const TURN_INTERVAL_MS = 1_000;
/** A process whose event loop has not turned for this long is stuck. */
const STUCK_MS = 5_000;

/**
 * The operations port of a process, for its supervisor, the metrics collector and the person on call; never for the public:
 * `/healthz` (200 while the event loop turns), `/readyz` (503 while it starts, drains or cannot work), `/metrics` and `/status`.
 *
 * On loopback it answers only to names of this machine: otherwise a web page whose name changes its address to 127.0.0.1 could read it.
 */
export class OpsServer {
  readonly #options: OpsServerOptions;
  readonly #server: Server;
  readonly #turns: NodeJS.Timeout;
  readonly #startedAtMs = Date.now() - process.uptime() * 1_000;
  readonly #id = randomUUID();
  #turnedAtMs = performance.now();
  #report: Report | undefined;
  #facts: () => Facts = () => ({});
  readonly #questions = new Map<string, (query: URLSearchParams) => number>();

  private constructor(options: OpsServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#turns = setInterval(() => {
      this.#turnedAtMs = performance.now();
    }, TURN_INTERVAL_MS).unref();
  }

  /** @throws when the address cannot be used, with the names of its settings. */
  static async open(options: OpsServerOptions): Promise<OpsServer> {
    const ops = new OpsServer(options);
    ops.#server.listen(options.port, options.bind);
    try {
      await once(ops.#server, "listening");
    } catch (error) {
      clearInterval(ops.#turns);
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      const why = code === "EADDRINUSE" ? "in use by another program" : `not usable (${code})`;
      const { bind, port, portSetting = "OPS_PORT" } = options;
      throw new Error(
        `${portSetting}: ${bind}:${port} is ${why}: stop that program, or choose another ${portSetting} or OPS_BIND`,
        { cause: error },
      );
    }
    return ops;
  }

  get port(): number {
    const address = this.#server.address();
    assert(typeof address === "object" && address !== null, "a server on TCP has an address");
    return address.port;
  }

  get identity(): ProcessIdentity {
    const { role, name = `${role}-${this.port}` } = this.#options;
    const { port: opsPort } = this;
    return { id: this.#id, role, name, host: hostname(), opsPort, startedAtMs: this.#startedAtMs };
  }

  /** Adds to `/status` while the process still starts. */
  show(facts: () => Facts): void {
    this.#facts = facts;
  }

  /** The process works from now on: `/readyz` follows `report`. */
  started(report: Report): void {
    this.#report = report;
    this.#facts = report.facts;
  }

  /** Adds a path that is answered with a status only. */
  serve(path: string, statusOf: (query: URLSearchParams) => number): void {
    this.#questions.set(path, statusOf);
  }

  async close(): Promise<void> {
    clearInterval(this.#turns);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  get #stage(): "starting" | "running" | "draining" {
    if (this.#options.lifetime.isDraining) return "draining";
    return this.#report === undefined ? "starting" : "running";
  }

  get #isReady(): boolean {
    return this.#stage === "running" && this.#report?.isReady() === true;
  }

  #answer({ method, url = "", headers }: IncomingMessage, response: ServerResponse): void {
    if (isLoopbackAddress(this.#options.bind) && !isLoopbackHost(hostnameOf(headers.host))) {
      response.writeHead(421).end();
      return;
    }
    if (method !== "GET" && method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const [path = "", query] = url.split("?", 2);
    switch (path) {
      case "/metrics":
        response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
        response.end(this.#options.metrics.render());
        return;
      case "/healthz":
        sendStatus(response, performance.now() - this.#turnedAtMs < STUCK_MS, {});
        return;
      case "/readyz":
        sendStatus(response, this.#isReady, { stage: this.#stage });
        return;
      case "/status":
        sendJson(response, 200, this.status());
        return;
      default:
        response.writeHead(this.#questions.get(path)?.(new URLSearchParams(query)) ?? 404).end();
    }
  }

  /** What `/status` returns. */
  status(): Facts {
    const { version, commit } = buildInfo();
    const { id, role, name, host } = this.identity;
    return {
      role,
      process_id: id,
      name,
      host,
      version,
      commit,
      pid: process.pid,
      started: new Date(this.#startedAtMs).toISOString(),
      uptime_ms: Math.round(performance.now()),
      stage: this.#stage,
      ready: this.#isReady,
      ...this.#facts(),
    };
  }
}

/** Of a header `Host`; "" if it is not one. */
function hostnameOf(host = ""): string {
  const url = `http://${host}/`;
  return URL.canParse(url) ? new URL(url).hostname : "";
}

function sendStatus(response: ServerResponse, isOk: boolean, body: Facts): void {
  sendJson(response, isOk ? 200 : 503, { ok: isOk, ...body });
}

function sendJson(response: ServerResponse, status: number, body: Facts): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}
