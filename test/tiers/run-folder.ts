import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";

/** A memory file system that every Linux has. */
export const MEMORY = "/dev/shm";

/**
 * Names in TEST_RUN_FOLDER the folder of what the tests of a run share (`services/migrated-data.ts`). When this process ends, however it
 * does, `run-end.ts` ends what the tests have started and not ended, and removes the folders of the run.
 *
 * @returns the process that waits for the end.
 */
export function openRunFolder(): number | undefined {
  process.env["TEST_RUN_FOLDER"] = join(tmpdir(), `tracker-run-${process.pid}`);
  const program = projectFile(".build", "test", "tiers", "run-end.js");
  // In a group of its own, because Ctrl-C ends the whole group of the run. Its closed input says that the run has ended.
  const waiting = spawn(process.execPath, [program], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  waiting.unref();
  // Nothing is written, so that the open pipe alone keeps no process alive.
  if (isHandle(waiting.stdin)) waiting.stdin.unref();
  return waiting.pid;
}

/** Where the servers are that all tests of a run share, in memory or on the disk. */
export function serversFolder(parent: string): string {
  return join(parent, `${basename(process.env["TEST_RUN_FOLDER"] ?? "tracker-run")}-servers`);
}

function isHandle(stream: object): stream is { unref(): void } {
  return "unref" in stream && typeof stream.unref === "function";
}
