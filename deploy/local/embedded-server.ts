import type { ChildExit } from "./child.ts";
import type { Report } from "./report.ts";

/** What every embedded server is started with. */
export interface EmbeddedServerOptions {
  /** Absolute. The server keeps its data in a folder of its own below it; logs go to `logs/`, process records to `run/`. */
  dataDir: string;
  /** Absolute. Programs that were downloaded once and are used again. May be shared by several DATA_DIRs. */
  runtimeDir: string;
  port: number;
  /** A loopback address: these servers are not meant to be reached from elsewhere. */
  bind: string;
  report: Report;
  /** Ends a start that is still under way; a started server is ended by `stop`. */
  signal?: AbortSignal;
}

/** A server that answers on `url` until `exited` settles. Starting it again on the same data and port keeps all data. */
export interface EmbeddedServer {
  readonly url: string;
  /** The process that was started: for Postgres and NATS the leash, whose end ends the server. */
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** Clean stop; by force after a deadline. Safe to call twice and after the end. */
  stop(): Promise<void>;
}
