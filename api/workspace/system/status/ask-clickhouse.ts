import { z } from "zod";
import {
  type ClusterState,
  readClusterState,
} from "../../../../schemas/clickhouse/cluster-state.ts";
import type { ClickhouseReader } from "../../../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../../../schemas/clickhouse/select.ts";

export type ClickhouseStatus = {
  readonly version: string;
  /** Undefined for one engine without replicas. */
  readonly cluster: ClusterState | undefined;
};

const Engine = z.object({ version: z.string() });
/** @throws what the driver throws. */
export async function askClickhouse(
  clickhouse: ClickhouseReader,
  timeoutMs: number,
): Promise<ClickhouseStatus> {
  const text = "select version() as version";
  const [engine] = await selectRows(clickhouse, { name: "status.engine", text, timeoutMs }, Engine);
  if (engine === undefined) throw new Error("ClickHouse returned no row for its version");
  return { version: engine.version, cluster: await readClusterState(clickhouse, { timeoutMs }) };
}
