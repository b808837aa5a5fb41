import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import type { StreamState } from "../../../../schemas/nats/streams.ts";
import type { ClickhouseStatus } from "./ask-clickhouse.ts";
import type { PostgresStatus } from "./ask-postgres.ts";

/** What a server answered; or why there is no answer. An earlier answer never stands in for a missing one. */
export type Answer<T> =
  | { readonly is: "known"; readonly value: T }
  | { readonly is: "unknown"; readonly why: string };

/** Everything that one look at an installation found. */
export type Snapshot = {
  readonly atMs: number;
  readonly processes: Answer<readonly ProcessStatus[]>;
  /** The same processes at an earlier time, for rates; a process that has restarted since has another id. */
  readonly earlier: readonly ProcessStatus[];
  readonly postgres: Answer<PostgresStatus>;
  /** By lane group; undefined for a stream that does not exist. */
  readonly streams: Answer<readonly (StreamState | undefined)[]>;
  readonly clickhouse: Answer<ClickhouseStatus>;
};
