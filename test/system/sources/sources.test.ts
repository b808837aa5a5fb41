import assert from "node:assert";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transformWithOxc } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectRoot } from "../../../schemas/host/project-root.ts";

const HOOKS = ".build/test/system/sources";
const LATER_S = 10;
/** Types that compiled code lacks stand above the line that is looked for. */
const MAIN = "type Odd = {\n  odd: 1;\n};\nconsole.log(new Error('source').stack);\n";

/** A project with the hooks and one built program. */
let project = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "tracker-sources-"));
  await cp(join(projectRoot, HOOKS), join(project, HOOKS), { recursive: true });
  await symlink(join(projectRoot, "node_modules"), join(project, "node_modules"));
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
  await mkdir(join(project, ".build/parts"));
  await mkdir(join(project, "parts"));
  await write("parts/part.ts", "export const part: string = 'part';\n");
  await write(".build/parts/part.js", "export const part = 'built part';\n");
  await write("main.ts", MAIN);
  await write(
    ".build/main.js",
    'import { part } from "./parts/part.js";\nconsole.log(part, import.meta.url);\n//# sourceMappingURL=main.js.map\n',
  );
});
afterAll(() => rm(project, { recursive: true }));

test("a source is what the build made of it, under the address of the source", async () => {
  await setAge("main.ts", -LATER_S);
  await setAge("parts/part.ts", -LATER_S);
  expect(await run("main.ts")).toBe(`built part file://${project}/main.ts`);
});

test("an error of what the build made names the line of the source", async () => {
  const { code, map } = await transformWithOxc(MAIN, "thrown.ts", { sourcemap: true });
  await write("parts/thrown.ts", MAIN);
  await write(".build/parts/thrown.js", `${code}\n//# sourceMappingURL=thrown.js.map\n`);
  const sources = ["../../parts/thrown.ts"];
  await write(".build/parts/thrown.js.map", JSON.stringify({ ...map, sources }));
  await setAge("parts/thrown.ts", -LATER_S);
  expect(await run("parts/thrown.ts")).toMatch(/^Error: source\n.*\/parts\/thrown\.ts:4:13/);
});

test("a source that is younger than its build, or has none, runs as it is now, with its lines", async () => {
  await setAge("main.ts", LATER_S);
  expect(await run("main.ts")).toMatch(/^Error: source\n.*main\.ts:4:13/);
  await rm(join(project, ".build/main.js"));
  expect(await run("main.ts")).toMatch(/^Error: source\n.*main\.ts:4:13/);
});

const write = (name: string, text: string): Promise<void> => writeFile(join(project, name), text);

async function setAge(name: string, seconds: number): Promise<void> {
  const at = Date.now() / 1_000 + seconds;
  await utimes(join(project, name), at, at);
}

async function run(program: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    "--enable-source-maps",
    "--import",
    join(project, HOOKS, "register.js"),
    join(project, program),
  ]);
  assert.equal(stderr, "");
  return stdout.trim();
}
