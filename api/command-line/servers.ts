import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { CommandError } from "./command-error.ts";

export type ServerUrls = {
  readonly postgresUrl: string;
  readonly natsUrl: string;
  readonly clickhouseUrl: string;
};

type Given = { readonly [Name in keyof ServerUrls]: string | undefined };

const VARIABLES = {
  postgresUrl: "POSTGRES_URL",
  natsUrl: "NATS_URL",
  clickhouseUrl: "CLICKHOUSE_URL",
} as const satisfies Record<keyof ServerUrls, string>;

/** The file that the launcher of a one-machine run writes while it runs. */
const Running = z
  .object({ postgres_url: z.string(), nats_url: z.string(), clickhouse_url: z.string() })
  .partial();

/**
 * The URLs of the servers that a command needs: from the environment, else from the one-machine run in `dataDir`.
 * @throws {CommandError} naming what is missing.
 */
export function findServers<Name extends keyof ServerUrls>(
  needed: readonly Name[],
  given: Given,
  dataDir: string,
): Pick<ServerUrls, Name> {
  const running = needed.every((name) => given[name] !== undefined) ? {} : readRunning(dataDir);
  const urls = { ...running, ...withoutAbsent(given) };
  const missing = needed.filter((name) => urls[name] === undefined);
  if (missing.length > 0) {
    throw new CommandError(
      `${missing.map((name) => VARIABLES[name]).join(", ")}: not set, and nothing started by \`npm start\` runs in ` +
        `${resolve(dataDir)}. Set the variable, or start the service first, or name its folder with DATA_DIR.`,
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every needed name has just been looked at
  return Object.fromEntries(needed.map((name) => [name, urls[name]])) as Pick<ServerUrls, Name>;
}

function readRunning(dataDir: string): Partial<ServerUrls> {
  const file = join(dataDir, "servers.json");
  if (!existsSync(file)) return {};
  try {
    const { postgres_url, nats_url, clickhouse_url } = Running.parse(
      JSON.parse(readFileSync(file, "utf8")),
    );
    return withoutAbsent({
      postgresUrl: postgres_url,
      natsUrl: nats_url,
      clickhouseUrl: clickhouse_url,
    });
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

function withoutAbsent(urls: Given): Partial<ServerUrls> {
  return Object.fromEntries(Object.entries(urls).filter(([, url]) => url !== undefined));
}
