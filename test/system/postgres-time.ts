import { readdirSync, readFileSync } from "node:fs";
import type { Pool } from "../../schemas/postgres/connect.ts";

/** Linux counts processor time in ticks of this length. */
const US_PER_TICK = 10_000;

/** The first process of the Postgres of a pool, which runs on this machine. */
export async function postmasterOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>({ text: "select pg_backend_pid() as pid" });
  const [row] = rows;
  if (row === undefined) throw new Error("Postgres did not answer the number of its process");
  return Number(fieldsOf(row.pid)[1]);
}

/** Processor time of a Postgres with all its sessions, also ended ones, in microseconds. Linux. */
export function postgresUs(postmaster: number): number {
  const [user, system, endedUser, endedSystem] = ticksOf(postmaster);
  let ticks = user + system + endedUser + endedSystem;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = fieldsOf(Number(name));
      if (Number(fields[1]) === postmaster) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * US_PER_TICK;
}

/** Processor time of those of these processes that still run, in microseconds. Linux. */
export function runningUs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + processUs(pid);
    } catch {
      // It has ended meanwhile.
      return sum;
    }
  }, 0);
}

/** Processor time of one process and its threads, in microseconds. Linux. */
export function processUs(pid: number): number {
  const [user, system] = ticksOf(pid);
  return (user + system) * US_PER_TICK;
}

function ticksOf(pid: number): [number, number, number, number] {
  const fields = fieldsOf(pid);
  return [Number(fields[11]), Number(fields[12]), Number(fields[13]), Number(fields[14])];
}

/** The fields after the name, which may contain spaces: state, parent and so on. */
function fieldsOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
