import { connect, createServer, type Server, type Socket } from "node:net";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5432,
  "postgresql:": 5432,
  "nats:": 4222,
  "http:": 8123,
};

/** A proxy before a server. Open: bytes pass unchanged. Shut: every connection is cut and new ones are refused. */
export class TcpGate {
  #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  readonly #address: string;
  #server: Server | undefined;
  #port = 0;

  private constructor(target: { host: string; port: number }, address: string) {
    this.#target = target;
    this.#address = address;
  }

  /** Opens a gate before the server with this URL, at an address of this machine. */
  static async open(server: string, address = "127.0.0.1"): Promise<TcpGate> {
    const gate = new TcpGate(targetOf(server), address);
    await gate.open();
    return gate;
  }

  /** New connections go to another server from now on. */
  aim(server: string): void {
    this.#target = targetOf(server);
  }

  get port(): number {
    return this.#port;
  }

  /** The URL of the server behind the gate, with user and password, but with the address of the gate. */
  urlOf(server: string): string {
    const url = new URL(server);
    url.hostname = this.#address;
    url.port = String(this.#port);
    return url.toString();
  }

  async open(): Promise<void> {
    const server = createServer((inside) => this.#join(inside));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(this.#port, this.#address, resolve);
    });
    const address = server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
    this.#server = server;
  }

  async shut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Nothing passes through the present connections any longer, and neither side notices, as when a machine or a cable fails. */
  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  #join(inside: Socket): void {
    const outside = connect(this.#target);
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      // Cutting connections is the purpose of the gate; both ends see the cut themselves.
      from.on("error", () => to.destroy());
    }
  }
}

function targetOf(server: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(server);
  return { host: hostname, port: Number(port || DEFAULT_PORTS[protocol]) };
}
