import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect } from "vitest";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { System } from "../system/start-system.ts";
import { until } from "../system/until.ts";

const Report = z.object({
  data: z.array(z.looseObject({ clicks: z.number(), conversions: z.number() })),
});

const PAGES = [["README.md"], ["deploy", "pages", "commands.md"]] as const;

/**
 * Runs the blocks of commands of the README and of the page of commands as they stand, in the demo of a new installation. Returns what the
 * last command printed.
 */
export async function runReadmeLines(system: System): Promise<string> {
  const [variables = "", ...steps] = blockWith("CLICK_ID=").split("\n\n");
  const run = async (lines: string): Promise<string> =>
    await shell(`${variables}\n${lines}`, system.dataDir);
  const clicked = steps.filter((step) => !step.includes("/reports")).join("\n");
  expect(await run(clicked)).toMatch(/^[0-9a-f]{32}\n\{"ok":true/);
  const report = steps.find((step) => step.includes("/reports")) ?? "";
  await until(
    "the report has the click and its conversion",
    async () =>
      Report.parse(JSON.parse(await run(report))).data.some(
        ({ clicks, conversions }) => clicks >= 1 && conversions === 1,
      ),
    { timeoutMs: 60_000 },
  );
  expect(JSON.parse(await run(blockWith("/ad-costs")))).toMatchObject({ data: {} });
  const printed = await run(blockWith("workspace create"));
  expect(printed).toMatch(/Workspace \d+ \(acme\) is created/);
  expect(printed).toMatch(/PARTNER1 +First partner/);
  expect(printed).toMatch(/code +DEMOSHOP/);
  expect(await run(blockWith("/imports"))).toContain('"name":"partners.csv"');
  return await run("npm run --silent tracker -- workspace create --name Third");
}

const { tracker } = z
  .object({ scripts: z.object({ tracker: z.string() }) })
  .parse(JSON.parse(readFileSync(projectFile("package.json"), "utf8"))).scripts;

/** Runs the script of `npm run tracker --` without npm, whose own start takes as long as a command. `npm run --silent` is npm itself. */
const WITHOUT_NPM = `npm() {
  if [ "$1 $2 $3" = "run tracker --" ]; then
    shift 3
    (${tracker} "$@")
  else command npm "$@"; fi
}`;

/** The block of shell commands that contains this. */
function blockWith(text: string): string {
  const pages = PAGES.map((path) => readFileSync(projectFile(...path), "utf8")).join("\n");
  const block = Array.from(pages.matchAll(/```sh\n(.*?)```/gs), ([, lines = ""]) => lines).find(
    (lines) => lines.includes(text),
  );
  if (block === undefined) throw new Error(`no page has a shell block with ${text}`);
  return block;
}

/** Runs lines as a reader types them in the folder of the project, but with another DATA_DIR. @throws when a command fails. */
async function shell(lines: string, dataDir: string): Promise<string> {
  const script = lines.replaceAll(".data/", `${dataDir}/`);
  const { stdout } = await promisify(execFile)("sh", ["-ec", `${WITHOUT_NPM}\n${script}`], {
    cwd: projectFile(),
    env: { ...process.env, DATA_DIR: dataDir },
  });
  return stdout;
}
