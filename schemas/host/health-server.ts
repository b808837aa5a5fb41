import assert from "node:assert";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Metrics } from "./metrics.ts";

export type Health = {
  /** False while the process starts or stops. */
  readonly ok: boolean;
  readonly [part: string]: string | number | boolean | null;
};

const ADDRESS = "127.0.0.1";
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Serves `GET /health` (200, or 503 while not ok) and `GET /metrics` on a separate port of the loopback address, for the launcher and
 * the metrics collector on the same host. @throws when the port is in use.
 */
export async function startHealthServer(options: {
  readonly port: number;
  readonly metrics: Metrics;
  readonly health: () => Health;
}): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const [path] = (request.url ?? "").split("?");
    if (path === "/health") {
      const health = options.health();
      response.writeHead(health.ok ? 200 : 503, { "content-type": "application/json" });
      response.end(`${JSON.stringify(health)}\n`);
      return;
    }
    if (path === "/metrics") {
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4" });
      response.end(options.metrics.render());
      return;
    }
    response.writeHead(404).end();
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.listen(options.port, ADDRESS);
  await once(server, "listening");
  const address = server.address();
  assert(typeof address === "object" && address !== null, "a server on TCP has an address");
  return {
    port: address.port,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
