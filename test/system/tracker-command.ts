import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";

/** Runs a command of `tracker` for the service in a DATA_DIR, or on the servers that `env` names, as an operator does. */
export async function trackerCommand(
  dataDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-command-"));
  const child = spawn(process.execPath, [projectFile(".build", "api", "tracker.js"), ...args], {
    cwd: folder,
    env: { ...process.env, DATA_DIR: dataDir, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer): void => void (output += chunk.toString());
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const [code] = z
    .tuple([z.number().nullable()])
    .rest(z.unknown())
    .parse(await once(child, "close"));
  await rm(folder, { recursive: true });
  return { code: code ?? 1, output };
}
