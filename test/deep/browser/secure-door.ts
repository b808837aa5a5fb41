import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import { Authority } from "../deploy/certificates.ts";

/** A proxy with a certificate of its own in front of the tracking port, as an installation has one. */
export class SecureDoor {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  /** @throws if openssl is missing */
  static async open(host: string, trackingUrl: string): Promise<SecureDoor> {
    await using authority = await Authority.open();
    const { cert, key } = await authority.issue("door", `DNS:${host}`);
    const { hostname, port } = new URL(trackingUrl);
    const pem = { cert: await readFile(cert), key: await readFile(key) };
    const server = createServer(pem, (incoming, answer) => {
      const headers = {
        ...incoming.headers,
        "x-forwarded-for": "203.0.113.7",
        "x-forwarded-proto": "https",
      };
      const { method, url } = incoming;
      const passed = request({ hostname, port, method, path: url, headers }, (inner) => {
        answer.writeHead(inner.statusCode ?? 502, inner.headers);
        inner.pipe(answer);
      });
      passed.once("error", () => answer.destroy());
      incoming.pipe(passed);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    return new SecureDoor(
      server,
      typeof address === "object" && address !== null ? address.port : 0,
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
