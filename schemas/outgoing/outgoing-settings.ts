import type { SettingsOf } from "../host/read-settings.ts";
import type { OutgoingReach } from "./outgoing-client.ts";
import { ownServers } from "./own-servers.ts";

/** What requests to URLs of customers may reach. */
export function outgoingReach(
  read: Pick<
    SettingsOf<"processors">,
    | "ALLOW_PRIVATE_DESTINATIONS"
    | "OWN_PORTS"
    | "TRACKING_PORT"
    | "API_PORT"
    | "OPS_PORT"
    | "POSTGRES_URL"
    | "NATS_URL"
    | "NATS_SYS_URL"
    | "NATS_MONITOR_URLS"
    | "CLICKHOUSE_URL"
  >,
): OutgoingReach {
  const urls = [
    read.POSTGRES_URL,
    read.NATS_URL,
    read.NATS_SYS_URL,
    ...read.NATS_MONITOR_URLS,
    read.CLICKHOUSE_URL,
  ];
  return {
    allowLoopback: read.ALLOW_PRIVATE_DESTINATIONS,
    own: ownServers(urls, {
      ports: read.OPS_PORT === undefined ? read.OWN_PORTS : [read.OPS_PORT, ...read.OWN_PORTS],
      publicPorts: [read.TRACKING_PORT, read.API_PORT],
    }),
  };
}
