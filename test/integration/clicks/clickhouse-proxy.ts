import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * What happens to an insert of a click writer: it passes; its answer is lost after ClickHouse has executed it; or it is held
 * back until the promise resolves and then reaches ClickHouse, even if its client no longer waits.
 */
export type InsertFate = "pass" | "lose-answer" | { readonly holdUntil: Promise<void> };

/** A promise that a test resolves, to hold an insert back until then. */
export class Gate {
  #open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  open(): void {
    this.#open();
  }
}

/** A proxy between a writer and ClickHouse that treats inserts and counts of cap clicks as asked. Everything else passes. */
export class ClickhouseProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  /** Called for every insert. */
  fateOf: () => InsertFate = () => "pass";
  /** Called for every statement that counts the clicks of caps; `fromMs` is where their period began, 0 for all time. */
  fateOfCount: (fromMs: number) => InsertFate = () => "pass";
  inserts = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => {
      this.#serve(client);
    });
  }

  static async open(clickhouseUrl: string): Promise<ClickhouseProxy> {
    const proxy = new ClickhouseProxy(new URL(clickhouseUrl));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The URL of ClickHouse through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is closed");
    url.port = String((address satisfies AddressInfo).port);
    return url.toString();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #fateOf(bytes: Buffer): InsertFate | undefined {
    if (bytes.includes("query_id=lane-insert")) {
      this.inserts += 1;
      return this.fateOf();
    }
    const count = /param_fromMs=(\d+)&param_toMs=/.exec(bytes.toString("latin1"));
    return count === null ? undefined : this.fateOfCount(Number(count[1]));
  }

  #serve(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    let losesAnswer = false;
    let held: Promise<void> | undefined;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      // A reset is intended; the other side is reset separately.
      socket.on("error", () => socket.destroy());
    }
    client.on("data", (bytes: Buffer) => {
      const fate = this.#fateOf(bytes);
      if (fate !== undefined) {
        losesAnswer = fate === "lose-answer";
        held = typeof fate === "object" ? fate.holdUntil : undefined;
      }
      if (held === undefined) server.write(bytes);
      else void held.then(() => server.write(bytes));
    });
    server.on("data", (bytes: Buffer) => {
      if (losesAnswer) client.resetAndDestroy();
      else client.write(bytes);
    });
    server.on("close", () => client.destroy());
    client.on("close", () => {
      // Held bytes still arrive.
      if (held === undefined) server.end();
      else void held.then(() => server.end());
    });
  }
}
