import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { FILLED_IDS_MAX, fillMonth } from "../bench/click-fill.ts";
import { serversOf } from "../system/servers-of.ts";
import { type System, startSystem } from "../system/start-system.ts";
import { type Cookies, signInRoles } from "./console/sign-in-roles.ts";
import { seedShop } from "./shop-seed.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * Serves the demo.json of a running service, the same one for all files of the run, at `people` the cookies of its people, at
     * `servers` the addresses of its servers, and at `filled` the number of clicks of October 2026, which it makes on the first request.
     */
    landingServiceUrl: string;
  }
}

/**
 * One service for all files of the project, because starting it takes longer than most of them. It starts on the first file's
 * request, so that it uses no processor time before.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<System> | undefined;
  let signedIn: Promise<Cookies> | undefined;
  let filled: Promise<number> | undefined;
  const door = createServer((request, response) => {
    started ??= startShop();
    const answer =
      request.url === "/people"
        ? (signedIn ??= started.then(signInForLong))
        : request.url === "/filled"
          ? (filled ??= started.then(fillOctober))
          : request.url === "/servers"
            ? started.then(serversOf)
            : started.then(({ client }) => client.demo);
    answer.then(
      (content) => response.end(JSON.stringify(content)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    door.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = door.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  project.provide("landingServiceUrl", `http://127.0.0.1:${port}/`);
  return async () => {
    door.close();
    door.closeAllConnections();
    // A failed start was answered with 500 and has cleaned up after itself.
    const system = await started?.catch(() => undefined);
    await system?.[Symbol.asyncDispose]();
  };
}

/** CONSOLE_CLICKS: clicks of the month. The budgets of the console are meant for ten million. */
const CLICKS = Number(process.env["CONSOLE_CLICKS"] ?? 400_000);

async function fillOctober(system: System): Promise<number> {
  const { clickhouse: url } = await serversOf(system);
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  try {
    await fillMonth(clickhouse, CLICKS, (text) => process.stdout.write(`${text}\n`));
    return CLICKS;
  } finally {
    await clickhouse.close();
  }
}

async function inPostgres(system: System, work: (pool: Pool) => Promise<void>): Promise<void> {
  const { postgres: url } = await serversOf(system);
  const pool = openPool({ url, applicationName: "test" });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

/** Files of a long run come more than ten minutes later, when what needs a new proof would ask for the password. */
async function signInForLong(system: System): Promise<Cookies> {
  const cookies = await signInRoles(system);
  await inPostgres(system, async (pool) => {
    await pool.query({ text: "update session set proved_at = now() + interval '1 day'" });
  });
  return cookies;
}

/** A record that a test makes must not get an ID of the filled month: it would then have the figures of that ID. */
async function skipFilledIds(system: System): Promise<void> {
  await inPostgres(system, async (pool) => {
    for (const table of ["offer", "affiliate", "advertiser"])
      await pool.query({
        text: `select setval(pg_get_serial_sequence($1, 'id'), $2)`,
        values: [table, FILLED_IDS_MAX],
      });
  });
}

async function startShop(): Promise<System> {
  const system = await startSystem();
  try {
    await seedShop(system);
    await skipFilledIds(system);
    return system;
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}
