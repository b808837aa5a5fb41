import { createServer, type Server } from "node:http";

/** An advertiser's web server: serves the pages that tests put there, under every host name that resolves to it. */
export class PageServer {
  readonly #pages = new Map<string, string>();
  readonly #server: Server;
  readonly port: number;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on("request", (request, response) => {
      const path = new URL(request.url ?? "/", "http://page").pathname;
      const html = this.#pages.get(path);
      response.writeHead(html === undefined ? 404 : 200, { "content-type": "text/html" });
      response.end(html ?? "");
    });
  }

  static async open(): Promise<PageServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return new PageServer(server, port);
  }

  put(path: string, html: string): void {
    this.#pages.set(path, html);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }
}
