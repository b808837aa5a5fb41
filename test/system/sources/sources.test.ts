import assert from "node:assert";
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectRoot } from "../../../schemas/host/project-root.ts";

const HOOKS = ".build/test/system/sources";
const LATER_S = 10;

/** A project with the hooks and one built program. */
let project = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "tracker-sources-"));
  await cp(join(projectRoot, HOOKS), join(project, HOOKS), { recursive: true });
  await symlink(join(projectRoot, "node_modules"), join(project, "node_modules"));
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
  await write("part.ts", "export const part: string = 'part';\n");
  await write(".build/part.js", "export const part = 'built part';\n");
  await write("main.ts", "type Odd = 1;\n\nconsole.log(new Error('source').stack);\n");
  await write(
    ".build/main.js",
    'import { part } from "./part.js";\nconsole.log(part, import.meta.url);\n//# sourceMappingURL=main.js.map\n',
  );
});
afterAll(() => rm(project, { recursive: true }));

test("a source is what the build made of it, under the address of the source", async () => {
  await setAge("main.ts", -LATER_S);
  await setAge("part.ts", -LATER_S);
  expect(await run()).toBe(`built part file://${project}/main.ts`);
});

test("a source that is younger than its build, or has none, runs as it is now, with its lines", async () => {
  await setAge("main.ts", LATER_S);
  expect(await run()).toMatch(/^Error: source\n.*main\.ts:3:13/);
  await rm(join(project, ".build/main.js"));
  expect(await run()).toMatch(/^Error: source\n.*main\.ts:3:13/);
});

const write = (name: string, text: string): Promise<void> => writeFile(join(project, name), text);

async function setAge(name: string, seconds: number): Promise<void> {
  const at = Date.now() / 1_000 + seconds;
  await utimes(join(project, name), at, at);
}

async function run(): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    "--enable-source-maps",
    "--import",
    join(project, HOOKS, "register.js"),
    join(project, "main.ts"),
  ]);
  assert.equal(stderr, "");
  return stdout.trim();
}
