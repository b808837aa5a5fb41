import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { until } from "./until.ts";

/** Jobs of a one-machine run, recognised by their command lines. */
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
 * Pids of the processes that do a job for the installation in `dataDir`: the command line names the program, and the command
 * line or environment names the folder. Reads /proc, so Linux only.
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

/** Sends kill -9 to every process of the job. Returns how many were killed. */
export async function killJob(dataDir: string, job: Job): Promise<number> {
  const pids = await findProcesses(dataDir, job);
  let hit = 0;
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
      hit += 1;
    } catch (error) {
      // It ended before the signal was sent.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
  return hit;
}

/** Like {@link killJob}, but waits until the launcher has restarted the job. A process that is still dying does not count. */
export async function killAndAwaitSuccessor(dataDir: string, job: Job): Promise<number> {
  const killed = new Set(await findProcesses(dataDir, job));
  const hit = await killJob(dataDir, job);
  await until(
    `the launcher restarts ${job}`,
    async () => (await findProcesses(dataDir, job)).some((pid) => !killed.has(pid)),
    { timeoutMs: 60_000, pollMs: 20 },
  );
  return hit;
}

/**
 * Sends kill -9 to every process of the job and stops the launcher, which would restart it. The job stays down until the returned
 * function is called. Freezing the restarted process instead is not enough: it may connect before it is found.
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
    await until(`${job} has ended`, isGone, { pollMs: 20 });
  } catch (error) {
    startAgain();
    throw error;
  }
  return startAgain;
}

/**
 * Stops every process of the jobs with SIGSTOP, and the launcher, which could take a frozen server for a dead one. The returned function
 * lets all go on.
 */
export async function freezeJobs(
  { launcher, dataDir }: { readonly launcher: ChildProcess; readonly dataDir: string },
  jobs: readonly Job[],
): Promise<() => void> {
  launcher.kill("SIGSTOP");
  const pids = (await Promise.all(jobs.map((job) => findProcesses(dataDir, job)))).flat();
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  return () => {
    for (const pid of pids) process.kill(pid, "SIGCONT");
    launcher.kill("SIGCONT");
  };
}

/** Pids of the processes that a process has started. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readProcessText(String(pid), `task/${pid}/children`);
  return text.split(" ").filter(Boolean).map(Number);
}

/** Sends kill -9. A process that has ended is no fault. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Whether a process exists, dead ones that nobody has waited for included. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // No such process.
    return false;
  }
}

/** Resident memory in bytes. Linux. */
export function residentBytes(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? Number.NaN) * 1_024;
}

async function readProcessText(
  pid: string,
  file: "cmdline" | "environ" | `task/${number}/children`,
): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/${file}`, "utf8")).replaceAll("\0", " ");
  } catch {
    // The process has ended, or belongs to another user.
    return "";
  }
}
