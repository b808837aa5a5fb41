import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { until } from "./until.ts";

/** Jobs of a one-machine run, told apart by their command lines. */
const COMMANDS = {
  ingress: "/ingress/main.js",
  processors: "/processors/main.js",
  api: "/api/main.js",
  clickhouse: "clickhouse-engine",
  nats: "nats-server",
  postgres: "bin/postgres",
} as const;
export type Job = keyof typeof COMMANDS;

/**
 * Pids of the processes that do a job for the installation of `dataDir`: those whose command line names the program and whose
 * command line or environment names the folder. Reads /proc, so Linux only.
 */
export async function findProcesses(dataDir: string, job: Job): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (const pid of pids) {
    const command = await readProcessText(pid, "cmdline");
    if (!command.includes(COMMANDS[job]) || command.includes("leash")) continue;
    const environment = await readProcessText(pid, "environ");
    if (command.includes(dataDir) || environment.includes(`DATA_DIR=${dataDir}`))
      found.push(Number(pid));
  }
  return found;
}

/** kill -9 of every process of the job; answers how many were hit. */
export async function killJob(dataDir: string, job: Job): Promise<number> {
  const pids = await findProcesses(dataDir, job);
  let hit = 0;
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
      hit += 1;
    } catch (error) {
      // It ended between the look and the kill.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
  return hit;
}

/** As {@link killJob}; answers when the launcher has started the job again: a process that is dying is not the next one. */
export async function killAndAwaitSuccessor(dataDir: string, job: Job): Promise<number> {
  const killed = new Set(await findProcesses(dataDir, job));
  const hit = await killJob(dataDir, job);
  await until(
    `the launcher starts ${job} again`,
    async () => (await findProcesses(dataDir, job)).some((pid) => !killed.has(pid)),
    { timeoutMs: 60_000, pollMs: 20 },
  );
  return hit;
}

/**
 * kill -9 of every process of the job, while the launcher, which would start it again, is stopped. The job stays down until the
 * returned function is called. Freezing the process that the launcher starts is not enough: it may connect before it is found.
 */
export async function keepDown(
  { launcher, dataDir }: { readonly launcher: ChildProcess; readonly dataDir: string },
  job: Job,
): Promise<() => void> {
  launcher.kill("SIGSTOP");
  const startAgain = (): void => void launcher.kill("SIGCONT");
  try {
    await killJob(dataDir, job);
    const isGone = async (): Promise<boolean> => (await findProcesses(dataDir, job)).length === 0;
    await until(`${job} has ended`, isGone, { timeoutMs: 30_000, pollMs: 20 });
  } catch (error) {
    startAgain();
    throw error;
  }
  return startAgain;
}

/** Resident memory in bytes. Linux. */
export function residentBytes(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? Number.NaN) * 1_024;
}

async function readProcessText(pid: string, file: "cmdline" | "environ"): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/${file}`, "utf8")).replaceAll("\0", " ");
  } catch {
    // A process that has ended, or one of another user: not ours either way.
    return "";
  }
}
