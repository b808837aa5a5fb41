import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { type OpenLoopOrder, OpenLoopResult } from "./open-loop-order.ts";

/** The result of one load run. */
export type LoadFigures = {
  readonly requestsPerSecond: number;
  /** Answers other than 2xx and 3xx, and requests without one. */
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

const CONNECTIONS = 64;
const GOES_FIRST = ["nice", "-n", "-10"];
const RUN_TIMEOUT_MS = 120_000;

export function isOnPath(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

/** The command bound to a core, so that the load generator does not run on the server's core. */
export function pinned(core: number, command: readonly string[]): readonly string[] {
  return isOnPath("taskset") ? ["taskset", "-c", String(core), ...command] : command;
}

/** The highest rate that one server process answers, measured by wrk on core 1. @throws if wrk prints no rate. */
export async function fullLoad(
  url: string,
  seconds: number,
  headers: Record<string, string>,
  connections = CONNECTIONS,
): Promise<LoadFigures> {
  const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  return await runWrk(seconds, [...given, url], connections);
}

/** Like {@link fullLoad}, with requests from a Lua script. */
export async function scriptedLoad(
  url: string,
  seconds: number,
  script: string,
): Promise<LoadFigures> {
  return await runWrk(seconds, ["-s", script, url]);
}

async function runWrk(
  seconds: number,
  args: readonly string[],
  connections = CONNECTIONS,
): Promise<LoadFigures> {
  const command = pinned(1, [
    "wrk",
    "-t1",
    "--latency",
    `-c${connections}`,
    `-d${seconds}s`,
    ...args,
  ]);
  const output = await run(command);
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(output)?.[1];
  if (rate === undefined) throw new Error(`wrk: ${output}`);
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? "0";
  const broken =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output) ?? [];
  const failures = [failed, ...broken.slice(1)].reduce((sum, text) => sum + Number(text), 0);
  return {
    requestsPerSecond: Number(rate),
    failures,
    p50Ms: latencyMs(output, 50),
    p99Ms: latencyMs(output, 99),
  };
}

const MS_PER_UNIT: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 };

/** A line of wrk's distribution, such as "99%  1.23ms". */
function latencyMs(output: string, percent: number): number {
  const [, figure, unit = ""] =
    new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m)$`, "m").exec(output) ?? [];
  return Number(figure) * (MS_PER_UNIT[unit] ?? Number.NaN);
}

/**
 * Sends requests at an even rate from core 1, and times them (open-loop.pl). NATS shares that core, so the generator goes first where
 * the user may say so: otherwise the times contain its own waiting. @throws if a request has no answer.
 */
export async function openLoopLoad(folder: string, order: OpenLoopOrder): Promise<OpenLoopResult> {
  const file = join(folder, "open-loop.json");
  await writeFile(file, JSON.stringify(order));
  const generator = ["perl", projectFile("test", "bench", "open-loop.pl"), file];
  const output = await run(pinned(1, [...(mayGoFirst() ? GOES_FIRST : []), ...generator]));
  return OpenLoopResult.parse(JSON.parse(output));
}

/** `nice` runs its program without the priority, and says so, if the user may not have it. */
function mayGoFirst(): boolean {
  return (
    spawnSync("sh", ["-c", `test "$(${GOES_FIRST.join(" ")} nice 2>/dev/null)" = -10`]).status === 0
  );
}

/** Runs to the end and returns both outputs. @throws with both outputs if the exit code is not 0. */
async function run(command: readonly string[]): Promise<string> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_TIMEOUT_MS,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0)
    throw new Error(`${command.join(" ")} ended with ${String(code)}: ${output.slice(-2_000)}`);
  return output;
}
