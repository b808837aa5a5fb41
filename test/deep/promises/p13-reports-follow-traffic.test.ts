import { deepStrictEqual } from "node:assert/strict";
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import type { Ledger } from "../../integration/reports/ledger.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { openExpectations } from "../../replay/expectation.ts";
import { type LogLine, readLogLines } from "../../replay/log-lines.ts";
import { embeddedPostgresUrl } from "../../replay/set-up.ts";
import { killJob } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { Markers } from "./followed-traffic/markers.ts";
import { type Market, openMarket } from "./followed-traffic/market.ts";
import { Orders } from "./followed-traffic/orders.ts";
import { anyRequest, expected, ROLES, requestFor, shown } from "./followed-traffic/reports.ts";
import { Traffic } from "./followed-traffic/traffic.ts";

const SHARED_LOG = projectFile("..", "shared", "data", "web-access.log.gz");
const LOG = existsSync(SHARED_LOG) ? SHARED_LOG : projectFile("test", "samples", "access.log");
const LINES = IS_FULL ? 10_000 : 800;
const PARTS = 3;
const RATE_PER_SECOND = 200;
const CHANGES = IS_FULL ? 600 : 60;
const REPORTS = IS_FULL ? 400 : 40;
/** Queues of log lines that are sent in parallel; each person's lines are in one queue. */
const QUEUES = 16;
const BEHIND_MAX_MS = 5_000;
/** Time to wait after processors were killed. Not a guaranteed bound. */
const AFTER_KILL_MS = 60_000;
const LOOK_MS = 50;

let system: System;
let pool: Pool;
let market: Market;
let traffic: Traffic;
let orders: Orders;
let parts: LogLine[][];
/** Instants at which no request was unanswered. */
const cuts: number[] = [];

beforeAll(async () => {
  system = await startSystem();
  const url = await embeddedPostgresUrl(system.dataDir);
  pool = openPool({ url, applicationName: "test", connectionsMax: 2 });
  market = await openMarket(pool, system);
  traffic = new Traffic(market, await openExpectations());
  orders = new Orders(market);
  const log = await readLogLines(LOG, LINES);
  // The sample log in this repository has fewer lines, so its people visit again.
  const lines = Array.from({ length: LINES }, (_, at) => log.lines[at % log.lines.length])
    .filter((line) => line !== undefined)
    .map((line, number) => ({ ...line, number }));
  const size = Math.ceil(LINES / PARTS);
  parts = Array.from({ length: PARTS }, (_, at) => lines.slice(at * size, (at + 1) * size));
  await cut();
});

afterAll(async () => {
  try {
    await market.client.close();
    await pool.end();
  } finally {
    // Runs even if the market could not be opened.
    await system[Symbol.asyncDispose]();
  }
});

test("reports show clicks, conversions and new statuses within 5 s of their answers (P13, REP-069)", async (context) => {
  await send(parts[0] ?? []);
  await cut();
  const markers = new Markers(market, traffic, orders);
  markers.start();
  await orders.change(CHANGES / 2, randomOf(SEED + 1));
  await send(parts[1] ?? []);
  expect(await markers.stop()).toEqual([]);
  await cut();
  await orders.change(CHANGES / 2, randomOf(SEED + 2));
  const { behindMs, found, wanted } = await untilShown(BEHIND_MAX_MS);
  expect(found).toEqual(wanted);
  const { clicks, conversions } = markers;
  process.stdout.write(
    `P13 seed ${SEED}: ${traffic.clicks.length} clicks, ${traffic.impressions.length} impressions, ${orders.size} orders; ` +
      `${clicks.answeredAtMs.size} markers: ${describeDelay("clicks", clicks)}, ${describeDelay("conversions", conversions)}; ` +
      `everything was shown ${behindMs} ms after the last answer\n`,
  );
  reportCases(context, { cases: traffic.clicks.length, violations: 0 });
  expect(clicks.answeredAtMs.size).toBeGreaterThan(4);
  expect(conversions.answeredAtMs.size).toBe(clicks.answeredAtMs.size);
  expect(Math.max(clicks.behindMs, conversions.behindMs)).toBeLessThanOrEqual(BEHIND_MAX_MS);
});

function describeDelay(what: string, delay: Markers["clicks"]): string {
  return `${what} at most ${delay.behindMs} ms behind (shown after ${delay.shownAfterMs} ms)`;
}

test("every cell of any report on that traffic equals a recount of its answers, for every role (P13)", async (context) => {
  reportCases(context, { cases: Math.ceil(REPORTS / 2), violations: 0 });
  expect(await wrongReport(Math.ceil(REPORTS / 2))).toBe("");
});

test("reports equal the recount after processors are killed in the middle of the traffic (P13)", async (context) => {
  const part = parts[2] ?? [];
  const halfway = traffic.clicks.length + part.length / 3;
  const killed = until(
    "the processors are killed",
    async () =>
      traffic.clicks.length > halfway && (await killJob(system.dataDir, "processors")) > 0,
    { timeoutMs: AFTER_KILL_MS, pollMs: LOOK_MS },
  );
  await Promise.all([send(part), killed]);
  await cut();
  const { behindMs, found, wanted } = await untilShown(AFTER_KILL_MS);
  expect(found).toEqual(wanted);
  process.stdout.write(
    `P13 seed ${SEED}: processors killed, ${orders.lost} postbacks without an answer, all shown ${behindMs} ms after the last answer\n`,
  );
  reportCases(context, { cases: Math.floor(REPORTS / 2), violations: 0 });
  expect(await wrongReport(Math.floor(REPORTS / 2))).toBe("");
});

/** Sends different people's requests in parallel, and those of each person one after another. */
async function send(lines: readonly LogLine[]): Promise<void> {
  const startedAtMs = performance.now();
  const queues = Array.from({ length: QUEUES }, (): LogLine[] => []);
  for (const line of lines) queues[queueOf(line)]?.push(line);
  const dueAtMs = new Map(
    lines.map((line, at) => [line, startedAtMs + (at * 1_000) / RATE_PER_SECOND]),
  );
  await Promise.all(
    queues.map(async (queue) => {
      for (const line of queue) {
        const leftMs = (dueAtMs.get(line) ?? 0) - performance.now();
        if (leftMs > 0) await pause(leftMs);
        const random = randomOf(Math.imul(SEED + line.number, 2_654_435_761));
        const click = await traffic.visit(line, random);
        if (click?.status === "redirect" && random() < 0.4) await orders.shop(click, random);
      }
    }),
  );
}

function queueOf({ ip, userAgent }: LogLine): number {
  return Buffer.from(`${ip} ${userAgent}`).reduce((sum, byte) => (sum * 31 + byte) % QUEUES, 7);
}

/** Records an instant that lies after all earlier answers and before all later requests. */
async function cut(): Promise<void> {
  const atMs = Date.now() + 2;
  cuts.push(atMs);
  await until("the clock has moved on", () => Date.now() > atMs + 2, {
    timeoutMs: 1_000,
    pollMs: 2,
  });
}

async function ledgerNow(): Promise<Ledger> {
  const { conversions, differences } = await orders.conversions();
  expect(differences.slice(0, 10), `seed ${SEED}, ${differences.length} in all`).toEqual([]);
  const { clicks, impressions } = traffic;
  return { clicks, impressions, conversions, costs: [], rates: [] };
}

/** Reads reports of all roles until they show everything, for at most `timeoutMs`. Returns how long it took. */
async function untilShown(
  timeoutMs: number,
): Promise<{ behindMs: number; found: unknown[]; wanted: unknown[] }> {
  const sinceMs = Date.now();
  const ledger = await ledgerNow();
  const range = { fromMs: cuts[0] ?? 0, toMs: Date.now() };
  const requests = ROLES.map((role) => ({
    ...requestFor(market, role, range),
    groupBy: ["offer", "status"],
  }));
  const wanted = requests.map((request) => expected(ledger, request));
  let found: unknown[] = [];
  do {
    found = await Promise.all(requests.map((request) => shown(market, request)));
    if (isDeepStrictEqual(found, wanted)) break;
    await pause(LOOK_MS);
  } while (Date.now() - sinceMs < timeoutMs);
  return { behindMs: Date.now() - sinceMs, found, wanted };
}

/** The first of `numRuns` random reports that differs from the recount, as a message; "" if none differs. */
async function wrongReport(numRuns: number): Promise<string> {
  const ledger = await ledgerNow();
  const result = await fc.check(
    fc.asyncProperty(anyRequest(market, ledger, cuts), async (request) => {
      deepStrictEqual(await shown(market, request), expected(ledger, request));
    }),
    { numRuns, seed: SEED },
  );
  return result.failed ? (fc.defaultReportMessage(result) ?? "failed") : "";
}
