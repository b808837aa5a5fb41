import type { Log } from "../schemas/host/log.ts";
import { connectNats, type Nats, type NatsOptions } from "../schemas/nats/connect.ts";

type LinkOptions = Omit<NatsOptions, "name"> & {
  readonly log: Log;
  /** Called once, with the connection. */
  readonly onConnection: (nats: Nats) => void;
};

const RETRY_MS = 1_000;

/**
 * The connection to NATS. The api starts and serves reads and most writes without it. Once the first connection has succeeded, it
 * reconnects by itself after an outage.
 */
export class NatsLink {
  readonly #options: LinkOptions;
  #nats: Nats | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Waits for the first attempt to finish, whether it succeeds or fails. */
  static async open(options: LinkOptions): Promise<NatsLink> {
    const link = new NatsLink(options);
    await link.#connect("warn");
    return link;
  }

  /** Undefined until NATS was reached for the first time. */
  current(): Nats | undefined {
    return this.#nats;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#nats?.connection.drain();
  }

  async #connect(level: "warn" | "debug"): Promise<void> {
    const { log, onConnection, ...servers } = this.#options;
    try {
      const nats = await connectNats({ ...servers, name: "tracker api", role: "api" });
      if (this.#isClosed) {
        await nats.connection.close();
        return;
      }
      this.#nats = nats;
      onConnection(nats);
      if (level === "debug") log.info("nats.reached");
    } catch (error) {
      // Logged once, not for each of the many attempts that follow.
      log[level]({ err: error }, "nats.not-reached");
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#connect("debug"), RETRY_MS);
    }
  }
}
