import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { normalIp } from "../net/address.ts";
import { isLoopbackAddress } from "../net/public-address.ts";
import { resolveHost } from "./resolve-host.ts";

/** The servers and listeners of this installation. No URL of a customer may reach them, wherever they are. */
export type OwnServers = {
  /** Named by our settings. */
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** On this machine: of the same servers, and of operations ports. */
  readonly ports: readonly number[];
  /** For visitors and callers of the API. Only their loopback addresses are refused. */
  readonly publicPorts: readonly number[];
};

export const NO_OWN_SERVERS: OwnServers = { servers: [], ports: [], publicPorts: [] };

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "nats:": 4222,
  "tls:": 4222,
  "postgres:": 5432,
  "postgresql:": 5432,
};
/**
 * What runs beside the processes without being named by their settings, on the ports of `deploy/servers/` and of processes without OPS_PORT:
 * Postgres behind PgBouncer, routes and monitors of NATS, and the operations ports of 64 ingress workers, the processors and the api.
 */
const USUAL_PORTS = [4222, 5432, 6222, 6432, 8123, 8222];
const USUAL_OPS_PORTS = { min: 9411, max: 9474 };

/** `urls`: what the settings name; each may hold several, comma-separated. */
export function ownServers(
  urls: readonly (string | undefined)[],
  { ports, publicPorts }: Pick<OwnServers, "ports" | "publicPorts">,
): OwnServers {
  const servers = urls.flatMap((list) => (list ?? "").split(",")).flatMap(serverOf);
  return { servers, ports: [...ports, ...servers.map(({ port }) => port)], publicPorts };
}

function serverOf(text: string): OwnServers["servers"] {
  if (!URL.canParse(text.trim())) return [];
  const { hostname, protocol, port } = new URL(text.trim());
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return [{ host, port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) }];
}

/** Whether anything of this installation may listen on the port, so that addresses have to be looked at. */
export function isOwnPort(own: OwnServers, port: number): boolean {
  return isPortOfMachine(own, port) || own.publicPorts.includes(port);
}

/**
 * Tells which addresses are refused on a port. @throws {NameError} if a server of ours has this port and a name that cannot be resolved: it
 * might be at any address.
 */
export async function ownAddressesAt(
  own: OwnServers,
  port: number,
  nameServers?: readonly string[],
): Promise<(address: string) => boolean> {
  const hosts = own.servers.filter((server) => server.port === port && server.host !== "");
  const resolved = await Promise.all(
    hosts.map(async ({ host }) =>
      isIP(host) === 0 ? await resolveHost(host, nameServers) : [host],
    ),
  );
  const addresses = new Set(resolved.flat().map(normalIp));
  if (isPortOfMachine(own, port)) for (const address of ofMachine()) addresses.add(address);
  return (address) => isLoopbackAddress(address) || addresses.has(normalIp(address));
}

function isPortOfMachine({ ports }: OwnServers, port: number): boolean {
  const isUsualOps = port >= USUAL_OPS_PORTS.min && port <= USUAL_OPS_PORTS.max;
  return isUsualOps || USUAL_PORTS.includes(port) || ports.includes(port);
}

function ofMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => normalIp(address)),
  );
}
