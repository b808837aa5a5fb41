import { randomInt } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
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

/** What this process has reserved, until it ends. */
const RESERVED = new Map<number, Server>();

/**
 * A port without a listener, not among `taken`. It is reserved for as long as this process lives: no other launcher or test on this machine
 * picks it, so two that start at the same moment do not collide. Other programs may still listen there.
 */
export async function pickPort(
  host: string,
  taken: ReadonlySet<number | undefined> = new Set(),
): Promise<number> {
  for (let pick = 0; pick < PICKS_MAX; pick++) {
    const port = randomInt(PORTS.min, PORTS.max + 1);
    if (!taken.has(port) && (await reservePort(host, port))) return port;
  }
  throw new Error(`no free port on ${host} among ${PICKS_MAX} tried`);
}

/**
 * One port per name, stored in `file`. Every start uses a port again if it is free. No name gets a port of `others`, which are needed later.
 * An invalid file is rewritten, because nothing depends on the numbers.
 */
export async function stablePorts<Name extends string>(
  names: readonly Name[],
  options: { readonly file: string; readonly host: string; readonly others: readonly number[] },
): Promise<Record<Name, number>> {
  const { file, host, others } = options;
  const kept = readPorts(file);
  const chosen: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const port = kept[name];
    const taken = new Set([...others, ...Object.values<number | undefined>(chosen)]);
    const canKeep = port !== undefined && !taken.has(port) && (await isUsable(host, port));
    chosen[name] = canKeep ? port : await pickPort(host, taken);
  }
  writeFileSync(file, `${JSON.stringify({ ...kept, ...chosen })}\n`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop gave every name its port
  return chosen as Record<Name, number>;
}

/** Reserves a port as {@link pickPort} does. False if it has a listener or is reserved, by this process too. */
export async function reservePort(host: string, port: number): Promise<boolean> {
  return !RESERVED.has(port) && (await isUsable(host, port));
}

/** Whether this process has the port to itself. If so, it is reserved. */
async function isUsable(host: string, port: number): Promise<boolean> {
  if (!(await reserve(port))) return false;
  if ((await portFault(host, port)) === undefined) return true;
  RESERVED.get(port)?.close();
  RESERVED.delete(port);
  return false;
}

/**
 * Listens on a name that stands for the port, in the socket names of Linux that have no file: the system forgets it when the process ends,
 * however it ends. False while another process has it.
 */
function reserve(port: number): Promise<boolean> {
  if (RESERVED.has(port) || process.platform !== "linux") return Promise.resolve(true);
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(false));
    server.listen({ path: `\0tracker-port-${port}` }, () => {
      RESERVED.set(port, server);
      resolve(true);
    });
    server.unref();
  });
}

/** The ports in `file` by name; none if it is missing or invalid. */
export function readPorts(file: string): Record<string, number> {
  if (!existsSync(file)) return {};
  const parsed = RememberedPorts.safeParse(parseJson(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data : {};
}
