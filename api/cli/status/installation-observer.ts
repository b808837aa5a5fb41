import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { within } from "../../../schemas/host/within.ts";
import type { ProcessStatus } from "../../../schemas/installation/process-status.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import type { NatsSpace } from "../../../schemas/nats/lane-groups.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import type { Snapshot } from "../../workspace/system/status/snapshot.ts";
import {
  PATIENCE_MS,
  STATEMENT_MS,
  takeSnapshot,
} from "../../workspace/system/status/take-snapshot.ts";
import type { Servers } from "../servers.ts";

const NAME = "tracker status";
const CONNECTIONS_MAX = 4;
const CLOSE_MS = 500;

/** Looks at an installation again and again over the same connections. */
export class InstallationObserver {
  readonly #servers: Servers;
  readonly #space: NatsSpace;
  readonly #db: Pool;
  readonly #clickhouse: Clickhouse;
  #nats: Nats | undefined;
  /** The last answers of the processes. */
  #earlier: readonly ProcessStatus[] | undefined;

  constructor(servers: Servers, space: NatsSpace) {
    this.#servers = servers;
    this.#space = space;
    this.#db = openPool({
      ...servers.postgres,
      applicationName: NAME,
      connectionsMax: CONNECTIONS_MAX,
      statementTimeoutMs: STATEMENT_MS,
    });
    this.#clickhouse = openClickhouse({
      ...servers.clickhouse,
      applicationName: NAME,
      requestTimeoutMs: PATIENCE_MS,
    });
  }

  /** The first look takes a second longer than others: it counts twice. */
  async look(signal: AbortSignal): Promise<Snapshot> {
    const stores = {
      db: this.#db,
      clickhouse: this.#clickhouse,
      nats: async () => await this.#connected(),
    };
    const snapshot = await takeSnapshot(stores, this.#earlier, signal);
    const { processes } = snapshot;
    this.#earlier = processes.is === "known" ? processes.value : undefined;
    return snapshot;
  }

  async close(): Promise<void> {
    // The program does not wait for a server that hangs.
    const closing = [
      this.#db.end(),
      this.#clickhouse.close(),
      Promise.resolve(this.#nats?.connection.close()),
    ];
    await within(CLOSE_MS, Promise.allSettled(closing));
  }

  /** @throws while NATS is away. A request that waited for a new connection would describe a later moment. */
  async #connected(): Promise<Nats> {
    if (this.#nats === undefined || this.#nats.connection.isClosed()) {
      const options = { ...this.#servers.nats, name: NAME, ...this.#space };
      const nats = await connectNats(options);
      this.#nats ??= nats;
      if (this.#nats !== nats) await nats.connection.close();
    }
    await this.#nats.connection.rtt();
    return this.#nats;
  }
}
