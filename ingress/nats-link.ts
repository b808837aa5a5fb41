import type { Log } from "../schemas/host/log.ts";
import { connectNats, type Nats, type NatsOptions } from "../schemas/nats/connect.ts";

const RETRY_MS = 500;

/**
 * The connection to NATS. It may be down at the start and at any later time; clicks are still accepted (P2). `current` returns no
 * connection while it is down, so nothing accumulates in its buffer.
 */
export class NatsLink {
  readonly #options: NatsOptions;
  readonly #log: Log;
  readonly #onConnect: ((nats: Nats) => void)[] = [];
  #nats: Nats | undefined;
  #isConnected = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: NatsOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** Starts connecting, and retries in the background until it succeeds. */
  start(): void {
    void this.#connect(true);
  }

  /** The connection while it is up. */
  current(): Nats | undefined {
    return this.#isConnected ? this.#nats : undefined;
  }

  /** Calls back with every new connection, to subscribe there. The client reconnects by itself, so there is usually one. */
  onConnection(listener: (nats: Nats) => void): void {
    this.#onConnect.push(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#nats?.connection.close();
  }

  async #connect(isFirstAttempt: boolean): Promise<void> {
    try {
      const nats = await connectNats(this.#options);
      if (this.#closed) {
        await nats.connection.close();
        return;
      }
      this.#nats = nats;
      this.#isConnected = true;
      this.#log.info("nats.connected");
      for (const listener of this.#onConnect) listener(nats);
      void this.#watch(nats);
    } catch (error) {
      if (this.#closed) return;
      // Logged once per outage, not per attempt.
      if (isFirstAttempt) this.#log.warn({ err: error }, "nats.not-reached");
      this.#timer = setTimeout(() => void this.#connect(false), RETRY_MS);
    }
  }

  /** Returns when the connection has ended. A connection that the client gives up is replaced by a new one. */
  async #watch(nats: Nats): Promise<void> {
    for await (const { type } of nats.connection.status()) {
      if (type === "disconnect") {
        this.#isConnected = false;
        this.#log.warn("nats.disconnected");
      } else if (type === "reconnect") {
        this.#isConnected = true;
        this.#log.info("nats.connected");
      }
    }
    this.#isConnected = false;
    if (this.#closed) return;
    const fault = await nats.connection.closed();
    this.#log.warn({ err: fault }, "nats.given-up");
    this.#timer = setTimeout(() => void this.#connect(true), RETRY_MS);
  }
}
