import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Identifies a process of this machine uniquely, by its process id and start time. The id alone is reused sooner or later, and soon after
 * a reboot, so stopping by id alone could stop another process.
 *
 * `undefined` when there is no such process, or only its unreaped remains.
 */
export function processIdentity(pid: number): string | undefined {
  return process.platform === "linux" ? identityFromProc(pid) : identityFromPs(pid);
}

function identityFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || startTicks === undefined) return undefined;
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${bootId}:${pid}:${startTicks}`;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function identityFromPs(pid: number): string | undefined {
  const ps = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  const startedAt = ps.stdout.trim();
  return ps.status === 0 && startedAt !== "" ? `${pid}:${startedAt}` : undefined;
}

function isGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    // ESRCH: the process ended between opening and reading its file.
    (error.code === "ENOENT" || error.code === "ESRCH")
  );
}
