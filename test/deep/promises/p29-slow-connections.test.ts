import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { residentBytes } from "../../system/processes.ts";
import { RawConnection, rawRequest } from "../../system/raw-http.ts";
import { SlowReport } from "../../system/slow-report.ts";
import { until } from "../../system/until.ts";

const SLOW = IS_FULL ? 5_000 : 1_000;
const ROUNDS = IS_FULL ? 8 : 3;
const ROUND_MS = IS_FULL ? 4_000 : 700;
const OTHERS = 4;
const PACE_MS = 4;
const RATIO_MAX = 1.5;
/** Below this, a p99 shows only timers and the scheduling of a busy machine. */
const P99_FLOOR_MS = 2;
const CLOSED_WITHIN_MS = 35_000;
/** Two head buffers of a slow connection, and what closed connections leave in the kernel. */
const BYTES_EACH_MAX = 128 * 1024;

/** Latencies of clients that are served normally, in ms. */
async function latencies(port: number, durationMs: number): Promise<number[]> {
  const all: number[] = [];
  const endAtMs = performance.now() + durationMs;
  const client = async (): Promise<void> => {
    const connection = await RawConnection.open(port);
    while (performance.now() < endAtMs) {
      const sentAtMs = performance.now();
      connection.send(rawRequest("/r/OFFER1/PARTNR?sub1=other"));
      const answer = await connection.answer();
      all.push(performance.now() - sentAtMs);
      if (answer?.status !== 302) throw new Error(`HTTP ${String(answer?.status)}`);
      // Sets the rate; does not wait for a condition.
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    }
    connection.destroy();
  };
  await Promise.all(Array.from({ length: OTHERS }, client));
  return all;
}

function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN;
}

/** The p99 of each round, in ms. */
async function rounds(port: number, count: number): Promise<number[]> {
  const p99s: number[] = [];
  for (let round = 0; round < count; round += 1)
    p99s.push(quantile(await latencies(port, ROUND_MS), 0.99));
  return p99s;
}

function openFilesMax(): number {
  const limits = readFileSync("/proc/self/limits", "latin1");
  return Number(/Max open files\s+\d+\s+(\d+)/.exec(limits)?.[1] ?? 0);
}

class SlowClients {
  readonly #child: ChildProcess;
  #last: SlowReport = { open: 0, ended: 0, oldestMs: 0 };

  constructor(port: number) {
    const program = projectFile(".build", "test", "system", "slow-clients.js");
    this.#child = spawn(process.execPath, [program, String(port), String(SLOW)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => {
      const line = chunk.toString().trimEnd().split("\n").at(-1) ?? "";
      this.#last = SlowReport.parse(JSON.parse(line));
    });
  }

  get last(): SlowReport {
    return this.#last;
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
  }
}

test(`${SLOW} slow connections raise the p99 of others at most ${RATIO_MAX} times; each is closed within 35 s (P29)`, async (context) => {
  expect(openFilesMax()).toBeGreaterThan(SLOW + 1_000);
  await using fleet = await IngressFleet.open();
  await fleet.world.addOffer();
  await fleet.untilCurrent();
  const [pid = 0] = fleet.pids;
  await latencies(fleet.port, ROUND_MS);
  const rssBefore = residentBytes(pid);
  const calm = await rounds(fleet.port, ROUNDS);
  const slow = new SlowClients(fleet.port);
  const loaded: number[] = [];
  let rssMax = 0;
  try {
    await until("all slow connections are open", () => slow.last.open >= SLOW * 0.95, {
      timeoutMs: 90_000,
    });
    const giveUpAtMs = performance.now() + CLOSED_WITHIN_MS;
    while (slow.last.ended < SLOW && performance.now() < giveUpAtMs) {
      loaded.push(...(await rounds(fleet.port, 1)));
      rssMax = Math.max(rssMax, residentBytes(pid));
    }
    reportCases(context, { cases: SLOW, violations: Math.max(0, SLOW - slow.last.ended) });
    expect(slow.last.ended).toBeGreaterThanOrEqual(SLOW);
    expect(slow.last.oldestMs).toBeLessThanOrEqual(CLOSED_WITHIN_MS);
  } finally {
    await slow.end();
  }
  calm.push(...(await rounds(fleet.port, ROUNDS)));
  const ratio = quantile(loaded, 0.5) / Math.max(quantile(calm, 0.5), P99_FLOOR_MS);
  expect(
    ratio,
    `p99 of rounds: calm ${calm.join(" ")}, loaded ${loaded.join(" ")}`,
  ).toBeLessThanOrEqual(RATIO_MAX);
  expect(rssMax - rssBefore).toBeLessThan(SLOW * BYTES_EACH_MAX);
  expect(fleet.pids).toEqual([pid]);
});
