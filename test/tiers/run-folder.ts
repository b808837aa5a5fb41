import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Names in TEST_RUN_FOLDER the folder of what the tests of a run share (`services/migrated-data.ts`), and removes it at the end of the run. */
export function openRunFolder(): void {
  const folder = join(tmpdir(), `tracker-run-${process.pid}`);
  process.env["TEST_RUN_FOLDER"] = folder;
  // Not done by a reporter: reporters of the command line replace the configured ones.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
}
