import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";
import { rpcAnswer } from "./mcp-caller.ts";

const PROGRAM = projectFile(".build", "api", "tracker.js");
const world = await forThisFile(ApiWorld.open());
const folder = await mkdtemp(join(tmpdir(), "mcp-stdio-"));
afterAll(() => rm(folder, { recursive: true }));
const keyFile = join(folder, "key");
await writeFile(keyFile, `${world.tenant.keys.analyst}\n`, { mode: 0o600 });

const env = { PATH: process.env["PATH"] ?? "", DATA_DIR: folder };

function argumentsFor(url: string): string[] {
  return [PROGRAM, "mcp", "--url", url, "--key-file", keyFile];
}

/** The command with its input held open. */
function started(url: string): ChildProcess & { stdin: NodeJS.WritableStream } {
  return spawn(process.execPath, argumentsFor(url), { env, stdio: ["pipe", "pipe", "pipe"] });
}

/** What the command writes when `input` is all that it gets. */
async function answersTo(
  input: string,
  url = `${world.origin}/mcp`,
): Promise<{ readonly lines: readonly string[]; readonly code: number | null; stderr: string }> {
  const child = started(url);
  child.stdin.end(input);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the command has no pipes");
  const [out, faults] = await Promise.all([text(stdout), text(stderr), once(child, "close")]);
  return { lines: out.split("\n").filter(Boolean), code: child.exitCode, stderr: faults };
}

test("a client that starts programs lists and calls the tools of its key", async () => {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: argumentsFor(`${world.origin}/mcp`),
      env,
    }),
  );
  try {
    expect((await client.listTools()).tools).toHaveLength(10);
    expect((await client.listPrompts()).prompts).toHaveLength(5);
    const calls = Array.from({ length: 20 }, () => client.callTool({ name: "whoami" }));
    for (const { structuredContent } of await Promise.all(calls)) {
      expect(structuredContent).toMatchObject({ data: { key: { role: "analyst" } } });
    }
  } finally {
    await client.close();
  }
});

test("every line is answered before the end, notifications and empty lines by nothing", async () => {
  const ping = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
  const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  const { lines, code } = await answersTo(`${ping(1)}\n\n${notification}\r\n${ping(2)}`);
  expect(code).toBe(0);
  expect(new Set(lines.map((line) => rpcAnswer({ text: line }).id))).toEqual(new Set([1, 2]));
  expect(lines).toHaveLength(2);
});

test("a refusal of HTTP and an unreachable service are answers with the id of the request", async () => {
  await writeFile(keyFile, "trk_live_0000000000000000000000000000000000000000");
  const asked = '{"jsonrpc":"2.0","id":"a","method":"ping"}\n';
  const refused = await answersTo(asked);
  await writeFile(keyFile, world.tenant.keys.analyst);
  expect(refused.lines.map((line) => rpcAnswer({ text: line }))).toMatchObject([
    { id: "a", error: { code: -32_001 } },
  ]);
  const closed = await answersTo(asked, "http://127.0.0.1:9/mcp");
  expect(closed.lines.map((line) => rpcAnswer({ text: line }))).toMatchObject([
    { id: "a", error: { code: -32_603 } },
  ]);
  expect(closed.stderr + refused.stderr).not.toContain("trk_live_");
});

test("a message above 1 MiB ends the command with a sentence, and is not kept in memory", async () => {
  const { code, stderr, lines } = await answersTo("x".repeat(1024 ** 2 + 1));
  expect([code, lines]).toEqual([1, []]);
  expect(stderr).toMatch(/a message has more than 1048576 bytes/);
});

test("without a demo and a key file, the command says which option to give", async () => {
  const child = spawn(process.execPath, [PROGRAM, "mcp"], { env, stdio: "pipe" });
  const [stderr] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(child.exitCode).toBe(1);
  expect(stderr).toMatch(/--key-file/);
});
