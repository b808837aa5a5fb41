import pg from "pg";
import type { Secret } from "../host/secret-file.ts";
import { isoTime } from "./iso-time.ts";

/** What runs a statement: the pool, or one connection inside a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>;
}

/** Values are always parameters, never part of the text. With a name, Postgres caches the plan. */
export type Statement = {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** How long the client waits for the answer, if that is not the limit of the connection. The server has a limit of its own. */
  readonly answerMs?: number;
};

export type Pool = Queryable & {
  connect(): Promise<PoolConnection>;
  end(): Promise<void>;
  /** Called for errors of idle connections, which no caller would see. */
  onIdleError(listener: (error: Error) => void): void;
};

export type PoolConnection = Queryable & { release(error?: Error): void };

/** A Postgres database, and the password if the URL has none. */
export type PostgresServer = { readonly url: string; readonly password?: Secret | undefined };

export type PoolOptions = PostgresServer & {
  /** Process and component, for pg_stat_activity. */
  readonly applicationName: string;
  readonly connectionsMax?: number;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
};

const CONNECTIONS_MAX = 16;
const CONNECT_TIMEOUT_MS = 5_000;
/** Limits of a connection in milliseconds, by the names of Postgres. */
export const CONNECTION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 5_000,
} as const;
/** The server cancels a slow statement itself. If it has not done so after this margin, it is gone, and the client stops waiting. */
const ANSWER_MARGIN_MS = 2_000;

/**
 * How columns are read: bigint as a number (ids and counts stay below 2^53), numeric as text (no float touches money), timestamptz as the
 * ISO text of the contract, date as YYYY-MM-DD.
 */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => Number(text));
types.setTypeParser(pg.types.builtins.NUMERIC, (text) => text);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTime);
types.setTypeParser(pg.types.builtins.DATE, (text) => text);

/** Opens no connection yet. The first statement does, and fails if it cannot. */
export function openPool(options: PoolOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? CONNECTION_LIMITS.statement_timeout;
  const pool = new pg.Pool({
    connectionString: options.url,
    Client: clientWith(options.password),
    application_name: options.applicationName,
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
    lock_timeout: options.lockTimeoutMs ?? CONNECTION_LIMITS.lock_timeout,
    idle_in_transaction_session_timeout: CONNECTION_LIMITS.idle_in_transaction_session_timeout,
    types,
  });
  // Without a listener a lost idle connection would end the process; the next statement reports the fault.
  pool.on("error", () => undefined);
  return {
    query: (statement) => pool.query(toConfig(statement)),
    connect: async () => {
      const client = await pool.connect();
      client.on("error", reportedByStatement);
      return {
        query: (statement) => client.query(toConfig(statement)),
        release: (error) => {
          client.off("error", reportedByStatement);
          client.release(error);
        },
      };
    },
    end: () => pool.end(),
    onIdleError: (listener) => {
      pool.on("error", listener);
    },
  };
}

/**
 * A connection in a transaction was lost. Its present or next statement fails with that, so nothing is left to do; without a listener
 * the event would end the process.
 */
function reportedByStatement(): void {}

/** Asks for the password at each connection. The driver lets the URL hide a password that is given beside it. */
function clientWith(password: Secret | undefined): typeof pg.Client {
  if (password === undefined) return pg.Client;
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      Object.assign(this, { password });
    }
  };
}

function toConfig({ text, name, values = [], answerMs }: Statement): pg.QueryConfig & {
  query_timeout?: number;
} {
  const config = { text, name, values: [...values] };
  return answerMs === undefined ? config : { ...config, query_timeout: answerMs };
}
