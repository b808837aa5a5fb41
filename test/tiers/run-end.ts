/**
 * Waits until the test run that started it has ended. Then ends what the run has left, which is something only after a kill: the processes
 * that have its TEST_RUN_FOLDER, their data, and the folders of the run. Run as `node run-end.js` with a standard input that the run keeps open.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { until } from "../system/until.ts";
import { MEMORY, serversFolder } from "./run-folder.ts";

/** A launcher stops its servers one after the other. */
const END_MS = 45_000;

type Left = { readonly pid: number; readonly dataDir: string };

process.stdin.on("error", () => process.stdin.destroy());
process.stdin.once("close", () => void endRun(process.env["TEST_RUN_FOLDER"] ?? ""));
process.stdin.resume();

async function endRun(folder: string): Promise<void> {
  if (folder === "") throw new Error("TEST_RUN_FOLDER names the folder of the run");
  const left = leftOf(folder);
  signal(left, "SIGTERM");
  const end = Date.now() + END_MS;
  await until("the processes of the run have ended", () => {
    const others = leftOf(folder);
    if (Date.now() > end) signal(others, "SIGKILL");
    return others.length === 0;
  });
  const data = left.map(({ dataDir }) => dataDir).filter((one) => dirname(one) === tmpdir());
  for (const gone of [...data, serversFolder(MEMORY), serversFolder(tmpdir()), folder])
    rmSync(gone, { recursive: true, force: true, maxRetries: 5 });
}

/** The processes of this user whose environment names the folder, without this one. */
function leftOf(folder: string): readonly Left[] {
  // Other systems show no environments of processes: there only the folders are removed.
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const environment = environmentOf(name);
      if (!environment.includes(`TEST_RUN_FOLDER=${folder}`)) return [];
      const variable = environment.find((one) => one.startsWith("DATA_DIR=")) ?? "";
      return [{ pid: Number(name), dataDir: variable.slice("DATA_DIR=".length) }];
    });
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    // It has ended, or is another user's.
    return [];
  }
}

function signal(processes: readonly Left[], name: "SIGTERM" | "SIGKILL"): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It ended before.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}
