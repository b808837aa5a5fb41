/** `npm run schema:release` notes in schemas/versions/released.json what the release of package.json ships. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { buildInfo } from "../../schemas/host/build-info.ts";
import { RELEASED_FILE, Released, releasedFaults, releaseOf } from "./released.ts";

const current = releaseOf(buildInfo().version);
const faults = existsSync(RELEASED_FILE)
  ? releasedFaults(Released.parse(JSON.parse(readFileSync(RELEASED_FILE, "utf8"))), current)
  : [];
if (faults.length === 0) writeFileSync(RELEASED_FILE, `${JSON.stringify(current, null, 2)}\n`);
else {
  process.stderr.write(`${faults.join("\n")}\n`);
  process.exitCode = 1;
}
