import { spawnSync } from "node:child_process";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";

const Cruise = z.object({
  modules: z.array(
    z.object({ source: z.string(), dependencies: z.array(z.object({ resolved: z.string() })) }),
  ),
  summary: z.object({
    totalCruised: z.int(),
    violations: z.array(
      z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) }),
    ),
  }),
});
export type Cruise = z.infer<typeof Cruise>;

/** What dependency-cruiser finds in these folders below `root` by the rules of this project. @throws if it fails */
export function cruise(root: string, folders: readonly string[]): Cruise {
  const program = projectFile("node_modules", "dependency-cruiser", "bin", "dependency-cruise.mjs");
  const config = projectFile(".dependency-cruiser.cjs");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, "--config", config, "--output-type", "json", ...folders],
    { cwd: root, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 },
  );
  if (stderr !== "") throw new Error(stderr);
  return Cruise.parse(JSON.parse(stdout));
}
