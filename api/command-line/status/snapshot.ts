import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { pause } from "../../../schemas/host/pause.ts";
import { within } from "../../../schemas/host/within.ts";
import { askProcesses, type ProcessStatus } from "../../../schemas/installation/process-status.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { readStream, type StreamState } from "../../../schemas/nats/streams.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import type { Servers } from "../servers.ts";
import { askClickhouse, type ClickhouseStatus } from "./ask-clickhouse.ts";
import { askPostgres, type PostgresStatus } from "./ask-postgres.ts";

/** What a server answered; or why there is no answer. An earlier answer never stands in for a missing one. */
export type Answer<T> =
  | { readonly is: "known"; readonly value: T }
  | { readonly is: "unknown"; readonly why: string };

/** Everything that one look at an installation found. */
export type Snapshot = {
  readonly atMs: number;
  readonly processes: Answer<readonly ProcessStatus[]>;
  /** The same processes at an earlier time, for rates; those that have restarted since have another id. */
  readonly earlier: readonly ProcessStatus[];
  readonly postgres: Answer<PostgresStatus>;
  /** Undefined if the stream does not exist. */
  readonly stream: Answer<StreamState | undefined>;
  readonly clickhouse: Answer<ClickhouseStatus>;
};

const NAME = "tracker status";
/** No server delays the report longer. */
const PATIENCE_MS = 3_000;
const STATEMENT_MS = 2_500;
/** Between two samples of the counters of a process. */
const SAMPLE_MS = 1_000;
const CONNECTIONS_MAX = 4;
/** Longer than a live process ever goes without a heartbeat while Postgres is there. */
const ALIVE_SECONDS = 30;

/** Looks at an installation again and again over the same connections. */
export class Looker {
  readonly #servers: Servers;
  readonly #prefix: string;
  readonly #db: Pool;
  readonly #clickhouse: Clickhouse;
  #nats: Nats | undefined;
  /** The last answers of the processes. */
  #earlier: readonly ProcessStatus[] | undefined;

  constructor(servers: Servers, prefix: string) {
    this.#servers = servers;
    this.#prefix = prefix;
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

  /** Takes at most about 8 s, when every server hangs. The first look takes a second longer than others: it counts twice. */
  async look(signal: AbortSignal): Promise<Snapshot> {
    const postgres = await answered(askPostgres(this.#db));
    const expected = expectedIn(postgres);
    if (this.#earlier === undefined) {
      const first = await answered(this.#askProcesses(expected));
      this.#earlier = first.is === "known" ? first.value : [];
      if (first.is === "known") await pause(SAMPLE_MS, signal);
    }
    const [processes, stream, clickhouse] = await Promise.all([
      answered(this.#askProcesses(expected)),
      answered(this.#connected().then(readStream)),
      answered(askClickhouse(this.#clickhouse, STATEMENT_MS)),
    ]);
    const earlier = this.#earlier;
    this.#earlier = processes.is === "known" ? processes.value : undefined;
    const atMs = systemClock.nowMs();
    return { atMs, processes, earlier, postgres, stream, clickhouse };
  }

  async close(): Promise<void> {
    // A pool whose server hangs ends when its connections time out.
    const closing = [
      this.#db.end(),
      this.#clickhouse.close(),
      Promise.resolve(this.#nats?.connection.close()),
    ];
    await within(PATIENCE_MS, Promise.allSettled(closing));
  }

  async #askProcesses(expected: ReadonlySet<string>): Promise<ProcessStatus[]> {
    return await askProcesses(await this.#connected(), expected);
  }

  /** @throws while NATS is away: a request that waits for a reconnection would tell of a later time. */
  async #connected(): Promise<Nats> {
    if (this.#nats === undefined || this.#nats.connection.isClosed()) {
      const options = { ...this.#servers.nats, name: NAME, prefix: this.#prefix };
      const nats = await connectNats(options);
      this.#nats ??= nats;
      if (this.#nats !== nats) await nats.connection.close();
    }
    await this.#nats.connection.rtt();
    return this.#nats;
  }
}

/** Ids of processes that were alive just now; the question waits a second for one that does not answer. */
function expectedIn(postgres: Answer<PostgresStatus>): ReadonlySet<string> {
  if (postgres.is === "unknown") return new Set();
  const alive = postgres.value.heartbeats.filter(({ ageSeconds }) => ageSeconds < ALIVE_SECONDS);
  return new Set(alive.map(({ id }) => id));
}

async function answered<T>(asked: Promise<T>): Promise<Answer<T>> {
  try {
    const value = await within(PATIENCE_MS, asked);
    return value === "late"
      ? { is: "unknown", why: `no answer in ${PATIENCE_MS / 1_000} s` }
      : { is: "known", value };
  } catch (error) {
    return {
      is: "unknown",
      why: error instanceof Error ? error.message || error.name : String(error),
    };
  }
}
