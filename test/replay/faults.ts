import { resolve } from "node:path";
import { findProcesses, type Job, killJob } from "../system/processes.ts";
import type { Disturbance } from "./replay.ts";

const VICTIMS: readonly Job[] = ["ingress", "processors", "clickhouse"];
const FIRST_FAULT_MS = 4_000;
const BETWEEN_FAULTS_MS = 5_000;

/** @throws if the service does not run on this machine, where its processes could be killed. */
export async function checkVictims(dataDir: string): Promise<void> {
  for (const job of VICTIMS) {
    if ((await findProcesses(resolve(dataDir), job)).length === 0) {
      throw new Error(`--faults: no ${job} process of ${dataDir} runs on this machine`);
    }
  }
}

/**
 * Kills an ingress, the processors and ClickHouse in turn with kill -9 until stopped, at most `killsMax` times: after each kill the launcher waits
 * longer before it starts the process again, so a slow machine would never come to the end of its traffic.
 */
export function runFaults(
  dataDir: string,
  say: (line: string) => void,
  killsMax = Number.POSITIVE_INFINITY,
): Disturbance {
  const folder = resolve(dataDir);
  const ingressKilledAtMs: number[] = [];
  let round = 0;
  let pending: Promise<void> = Promise.resolve();
  let timer = setTimeout(strike, FIRST_FAULT_MS);
  function strike(): void {
    const job = VICTIMS[round % VICTIMS.length];
    round += 1;
    if (job !== undefined) pending = kill(job);
    if (round < killsMax) timer = setTimeout(strike, BETWEEN_FAULTS_MS);
  }
  async function kill(job: Job): Promise<void> {
    const hit = await killJob(folder, job);
    // Recorded before the restarted process can answer.
    if (job === "ingress") ingressKilledAtMs.push(Date.now());
    say(`  kill -9: ${hit} x ${job}`);
  }
  return {
    stop: async () => {
      clearTimeout(timer);
      await pending;
      return { ingressKilledAtMs };
    },
  };
}
