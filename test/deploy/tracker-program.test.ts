import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { allCommands } from "../../api/cli/command-files.ts";
import { PROGRAM_ROLES } from "../../schemas/host/program-roles.ts";
import { projectFile } from "../../schemas/host/project-root.ts";

const commands = await allCommands();

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs the program with only these settings in its environment. */
async function tracker(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const program = projectFile(".build", "deploy", "tracker.js");
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env["PATH"], DATA_DIR: "/nowhere", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: child.exitCode, stdout, stderr };
}

test.each([[[]], [["help"]], [["--help"]]])(
  "tracker %j lists every role and command",
  async (args) => {
    const { code, stdout } = await tracker(args);
    expect(code).toBe(0);
    for (const { name, summary } of [...PROGRAM_ROLES, ...commands])
      expect(stdout.replaceAll(/ +/g, " ")).toContain(` ${name} ${summary}`);
  },
);

test.each(PROGRAM_ROLES.map(({ name, options }) => [name, options] as const))(
  "help for the role %s shows its options and starts nothing",
  async (name, options) => {
    const help = await tracker(["help", name]);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain(`Usage: npm run tracker -- ${name}`);
    for (const [option] of options) expect(help.stdout).toContain(option);
    expect(await tracker([name, "--help"])).toEqual(help);
  },
);

test.each(PROGRAM_ROLES.map(({ name }) => [name] as const))(
  "the role %s reads its settings: without servers it ends with code 2 and one message",
  async (name) => {
    const { code, stderr } = await tracker([name]);
    expect(code).toBe(2);
    expect(stderr.match(/The settings of .* are wrong/g)).toEqual([
      `The settings of ${name} are wrong`,
    ]);
    expect(stderr).toContain("POSTGRES_URL: expected");
  },
);

test.each([
  [["processors", "now"], 'processors: unexpected argument "now"'],
  [["api", "--port", "1"], 'api: unexpected argument "--port"'],
  [["ingress", "4"], "ingress: Unexpected argument '4'"],
  [["ingress", "--workers"], "ingress: Option '--workers <value>' argument missing"],
  [
    ["ingress", "--workers", "65"],
    'INGRESS_WORKERS: expected a whole number from 1 to 64, got "65"',
  ],
  [["ingres"], 'There is no command "ingres"'],
  [["workspace", "create"], "--name"],
])("wrong usage %j ends with code 2 and says why", async (args, reason) => {
  const servers = { POSTGRES_URL: "postgres://127.0.0.1:1/x", NATS_URL: "nats://127.0.0.1:1" };
  const { code, stderr } = await tracker(args, servers);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});

test("a command that fails ends with code 1 and one sentence", async () => {
  const servers = { POSTGRES_URL: "postgres://tracker:hush@127.0.0.1:1/tracker" };
  const { code, stderr } = await tracker(["workspace", "list"], servers);
  expect(code).toBe(1);
  expect(stderr).toContain("Postgres does not answer");
  expect(stderr).not.toContain("hush");
});
