import { spawn } from "node:child_process";

export interface CommandOutput {
  code: number | null;
  /** Standard output; cut at 4 MiB. */
  stdout: string;
  /** Standard error; cut at 4 MiB. */
  stderr: string;
}

export interface CommandOptions {
  cwd?: string;
  input?: string;
  /** Absent: the launcher's own environment. */
  env?: Record<string, string>;
  /** Runs the program as another user: the launcher must be root. */
  account?: { uid: number; gid: number } | undefined;
  signal?: AbortSignal | undefined;
  /** Default 5 minutes. Then the program is killed, and the result has `code: null`. */
  deadlineMs?: number;
}

const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;
const DEADLINE_MS = 5 * 60_000;

/**
 * Runs a program to its end. An exit code other than 0 is a result, not an error.
 *
 * @throws what `spawn` throws for a program that cannot be started, and the reason of an aborted `signal`.
 */
export async function commandOutput(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandOutput> {
  options.signal?.throwIfAborted();
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    // The launcher handles Ctrl-C at the terminal.
    detached: true,
    cwd: options.cwd,
    env: options.env,
    ...options.account,
  });
  const stopEarly = (): void => void child.kill("SIGKILL");
  // Not spawn's own `timeout`: its timer stays for a program that could not be started.
  const deadline = setTimeout(stopEarly, options.deadlineMs ?? DEADLINE_MS);
  options.signal?.addEventListener("abort", stopEarly, { once: true });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8");
    child[name].on("data", (text: string) => {
      output[name] = (output[name] + text).slice(0, OUTPUT_CHARS_MAX);
    });
  }
  // A program may end without reading its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exitCode) => resolve(exitCode));
    });
    options.signal?.throwIfAborted();
    return { code, ...output };
  } finally {
    clearTimeout(deadline);
    options.signal?.removeEventListener("abort", stopEarly);
  }
}

/** Like `commandOutput`, but returns `undefined` if there is no such program, or none that this user may run. */
export async function outputIfInstalled(
  command: string,
  args: readonly string[],
): Promise<CommandOutput | undefined> {
  try {
    return await commandOutput(command, args);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // EACCES also occurs if a folder on PATH is not accessible and no later one has the program.
    if (code === "ENOENT" || code === "EACCES") return undefined;
    throw error;
  }
}

/** The last non-empty lines, joined into one. */
export function lastLinesOf(text: string, lines = 2): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(-lines)
    .join(" / ")
    .slice(0, 400);
}
