import { inject } from "vitest";
import { IS_FULL } from "../promises/report-cases.ts";
import { type RunningServers, startServers } from "./servers.ts";

export type OwnServers = RunningServers<"postgres" | "nats" | "clickhouse">;

/**
 * Servers for one test that kills only its own processes: undefined where the run has servers, which it shares. A promise at full size
 * runs on servers as production has them.
 */
export async function ownServers(): Promise<OwnServers | undefined> {
  // Provided only in projects with services/global-setup.ts.
  const given: string | undefined = inject("postgresUrl");
  if (given !== undefined && !IS_FULL) return undefined;
  return await startServers({ need: ["postgres", "nats", "clickhouse"], isMigrated: true });
}
