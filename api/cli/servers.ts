import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { DurabilitySettings } from "../../schemas/checks/check.ts";
import type { ClickhouseServer } from "../../schemas/clickhouse/server.ts";
import type { NatsServers } from "../../schemas/nats/servers.ts";
import type { PostgresServer } from "../../schemas/postgres/connect.ts";
import { CommandError } from "./command-error.ts";

export type Servers = {
  readonly postgres: PostgresServer;
  readonly nats: NatsServers;
  readonly clickhouse: ClickhouseServer;
};

type Given = { readonly [Name in keyof Servers]: Servers[Name] | undefined };

const VARIABLES = {
  postgres: "POSTGRES_URL",
  nats: "NATS_URL",
  clickhouse: "CLICKHOUSE_URL",
} as const satisfies Record<keyof Servers, string>;

/** The file that the launcher of a one-machine run writes when it starts. */
const Running = z
  .object({
    postgres_url: z.string(),
    nats_url: z.string(),
    clickhouse_url: z.string(),
    tracking_url: z.string(),
    api_url: z.string(),
    durability: z.enum(["relaxed", "strict"]),
    strict_single_site: z.boolean(),
    strict_standbys: z.int(),
    nats_sys_url: z.string(),
  })
  .partial();

/**
 * The servers that a command needs: from the environment, else from the one-machine run in `dataDir`.
 * @throws {CommandError} naming what is missing.
 */
export function findServers<Name extends keyof Servers>(
  needed: readonly Name[],
  given: Given,
  dataDir: string,
): Pick<Servers, Name> {
  const running = needed.every((name) => given[name] !== undefined) ? {} : readRunning(dataDir);
  const servers = { ...running, ...withoutAbsent(given) };
  const missing = needed.filter((name) => servers[name] === undefined);
  if (missing.length > 0) {
    throw new CommandError(
      `${missing.map((name) => VARIABLES[name]).join(", ")}: not set, and nothing started by \`npm start\` runs in ` +
        `${resolve(dataDir)}. Set the variable, or start the service first, or name its folder with DATA_DIR.`,
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every needed name has just been looked at
  return Object.fromEntries(needed.map((name) => [name, servers[name]])) as Pick<Servers, Name>;
}

function readRunning(dataDir: string): Partial<Servers> {
  const { postgres_url, nats_url, clickhouse_url } = readRunningFile(dataDir);
  return withoutAbsent({
    postgres: atUrl(postgres_url),
    nats: atUrl(nats_url),
    clickhouse: atUrl(clickhouse_url),
  });
}

/** The public addresses of the one-machine run in `dataDir`. @throws {CommandError} for an unreadable file. */
export function runningAddresses(dataDir: string): {
  readonly trackingUrl: string | undefined;
  readonly apiUrl: string | undefined;
} {
  const { tracking_url: trackingUrl, api_url: apiUrl } = readRunningFile(dataDir);
  return { trackingUrl, apiUrl };
}

/** How strict the one-machine run in `dataDir` is, as far as it says. @throws {CommandError} for an unreadable file. */
export function runningDurability(dataDir: string): Partial<DurabilitySettings> {
  const running = readRunningFile(dataDir);
  if (running.postgres_url === undefined) return {};
  const { strict_single_site: singleSite, strict_standbys: standbys } = running;
  return {
    level: running.durability ?? "relaxed",
    ...(singleSite === undefined ? {} : { singleSite }),
    ...(standbys === undefined ? {} : { standbys }),
    natsSystemUrl: running.nats_sys_url,
  };
}

function readRunningFile(dataDir: string): z.infer<typeof Running> {
  const file = join(dataDir, "servers.json");
  if (!existsSync(file)) return {};
  try {
    return Running.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `${file} cannot be read (${fault}). Set POSTGRES_URL, NATS_URL and CLICKHOUSE_URL.`,
      {
        cause: error,
      },
    );
  }
}

function atUrl(url: string | undefined): { readonly url: string } | undefined {
  return url === undefined ? undefined : { url };
}

function withoutAbsent(servers: Given): Partial<Servers> {
  return Object.fromEntries(Object.entries(servers).filter(([, server]) => server !== undefined));
}
