/** A step of `npm run build`: notes the commit of the checkout in `.build/commit`, for `build_info` and `/status`. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";

const file = projectFile(".build", "commit");
const { status, stdout } = spawnSync("git", ["rev-parse", "HEAD"], {
  cwd: projectFile(),
  encoding: "utf8",
});
// An archive of the sources is no checkout, and an old note would name another commit.
if (status === 0) writeFileSync(file, stdout);
else rmSync(file, { force: true });
