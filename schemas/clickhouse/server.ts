import type { SettingsOf } from "../host/read-settings.ts";

// Not in connect.ts, which loads the driver: every program reads its settings, and the driver takes 50 ms of processor time.

export type ClickhouseServer = {
  /** `http://user:password@host:port/database`; of a cluster also several of its nodes, comma-separated. */
  readonly url: string;
  /** Certificates of the authority that signed the server's. */
  readonly caFile?: string | undefined;
  /** The cluster in `remote_servers` over which its clicks are spread. Undefined for a server alone (CLICKHOUSE_LAYOUT). */
  readonly cluster?: string | undefined;
};

/** The server of a process. */
export function clickhouseServer(
  read: Pick<
    SettingsOf<"processors">,
    "CLICKHOUSE_URL" | "CLICKHOUSE_CA_FILE" | "CLICKHOUSE_LAYOUT" | "CLICKHOUSE_CLUSTER"
  >,
): ClickhouseServer {
  return {
    url: read.CLICKHOUSE_URL,
    caFile: read.CLICKHOUSE_CA_FILE,
    cluster: clusterName(read),
  };
}

/** The cluster of the settings. Undefined in the layout `single`. */
export function clusterName(
  read: Pick<SettingsOf<"tracker">, "CLICKHOUSE_LAYOUT" | "CLICKHOUSE_CLUSTER">,
): string | undefined {
  return read.CLICKHOUSE_LAYOUT === "cluster" ? read.CLICKHOUSE_CLUSTER : undefined;
}

/** The nodes in CLICKHOUSE_URL. */
export function seedUrls(url: string): readonly string[] {
  return url.split(",").map((one) => one.trim());
}

/** The database in a URL. Migrations create it. */
export function clickhouseDatabase(url: string): string {
  const [first = ""] = seedUrls(url);
  return decodeURIComponent(new URL(first).pathname.slice(1)) || "default";
}
