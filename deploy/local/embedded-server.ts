import type { ChildExit } from "./child.ts";
import type { Report } from "./report.ts";

/** Options of every embedded server. */
export interface EmbeddedServerOptions {
  /** Absolute. The server keeps its data in a folder of its own below it; logs go to `logs/`, process records to `run/`. */
  dataDir: string;
  /** Absolute path of the folder with downloaded programs. Several DATA_DIRs may share it. */
  runtimeDir: string;
  port: number;
  /** A loopback address, because no other machine needs these servers. */
  bind: string;
  report: Report;
  /** Aborts a start in progress. `stop` ends a started server. */
  signal?: AbortSignal;
}

/** A server that answers on `url` until `exited` settles. Starting it again on the same data and port keeps all data. */
export interface EmbeddedServer {
  readonly url: string;
  /** NATS only: the same server with the user of the system account. */
  readonly systemUrl?: string;
  /** ClickHouse only: the same server with the user for reports. */
  readonly readerUrl?: string;
  /** The process that was started: for Postgres and NATS the leash, whose end ends the server. */
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** Stops it cleanly, or by force after a deadline. Safe to call twice and after it has ended. */
  stop(): Promise<void>;
}
