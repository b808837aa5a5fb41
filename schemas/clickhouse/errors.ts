import { ClickHouseError } from "@clickhouse/client";
import { NETWORK_CODES } from "../net/network-codes.ts";

/** Codes of a server that is busy, short of memory, starting, stopping, or has cancelled the query after its time limit. */
const SERVER_AWAY = ["159", "160", "164", "202", "209", "210", "236", "241", "242", "319", "394"];
/**
 * Codes of a cluster: no replica of a shard answers, all that do are stale, Keeper is away, and too few replicas are connected to acknowledge
 * an insert, or have not acknowledged the one before.
 */
const CLUSTER_AWAY = ["279", "369", "999", "285", "286"];
const UNKNOWN_DATABASE = "81";
const AWAY = new Set([...SERVER_AWAY, ...CLUSTER_AWAY]);

/** Too few replicas of a shard answered, so a row that was acknowledged may be missing. */
export class QuorumError extends Error {
  override readonly name = "QuorumError";
}

/** The server is unreachable or cannot serve now. Whether an insert happened is then unknown: ask the table. */
export function isClickhouseAway(error: unknown): boolean {
  if (error instanceof ClickHouseError) return AWAY.has(error.code);
  if (error instanceof QuorumError) return true;
  if (typeof error !== "object" || error === null) return false;
  if ("code" in error && typeof error.code === "string" && NETWORK_CODES.has(error.code))
    return true;
  // The client gives no code when its timer or a signal ended the request, or the socket was closed.
  return (
    error instanceof Error &&
    /^(Timeout error\.|socket hang up|aborted|The user aborted)/.test(error.message)
  );
}

/** The node has been emptied, or is new: it answers and has no database yet. */
export function lacksDatabase(error: unknown): boolean {
  return clickhouseCode(error) === UNKNOWN_DATABASE;
}

/** Code of a server error ("62", "241" …); "" if the error is not from the server. */
export function clickhouseCode(error: unknown): string {
  return error instanceof ClickHouseError ? error.code : "";
}
