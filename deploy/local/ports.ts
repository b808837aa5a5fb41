import { randomInt } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { z } from "zod";
import { parseJson } from "./kept-files.ts";

/**
 * Below the range that systems use for outgoing connections (32768 and up on Linux). While a server restarts, an outgoing connection could
 * take its port from that range, even the connection of a client that tries to reach the server.
 */
const PORTS = { min: 20_000, max: 29_999 };
const PICKS_MAX = 200;

const RememberedPorts = z.record(z.string(), z.int().min(1).max(65_535));

/** Why this process cannot listen there; `undefined` when it can. */
export function portFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** A port without a listener, not among `taken`. It is not reserved: another process may take it first. */
export async function pickPort(
  host: string,
  taken: ReadonlySet<number | undefined> = new Set(),
): Promise<number> {
  for (let pick = 0; pick < PICKS_MAX; pick++) {
    const port = randomInt(PORTS.min, PORTS.max + 1);
    if (!taken.has(port) && (await portFault(host, port)) === undefined) return port;
  }
  throw new Error(`no free port on ${host} among ${PICKS_MAX} tried`);
}

/**
 * One port per name, stored in `file` and used again at every start if they are free. An invalid file is rewritten, because nothing
 * depends on the numbers.
 */
export async function stablePorts<Name extends string>(
  file: string,
  names: readonly Name[],
  host: string,
): Promise<Record<Name, number>> {
  const kept = readPorts(file);
  const chosen: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const port = kept[name];
    const taken = new Set(Object.values<number | undefined>(chosen));
    const isUsable =
      port !== undefined && !taken.has(port) && (await portFault(host, port)) === undefined;
    chosen[name] = isUsable ? port : await pickPort(host, taken);
  }
  writeFileSync(file, `${JSON.stringify({ ...kept, ...chosen })}\n`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop gave every name its port
  return chosen as Record<Name, number>;
}

function readPorts(file: string): Record<string, number> {
  if (!existsSync(file)) return {};
  const parsed = RememberedPorts.safeParse(parseJson(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data : {};
}
