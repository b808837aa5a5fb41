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
  /** Default 5 minutes; then it is killed and answers `code: null`. */
  deadlineMs?: number;
}

const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;
const DEADLINE_MS = 5 * 60_000;

/**
 * Runs a program to its end. A code other than 0 is an answer, not a fault.
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
    // Ctrl-C at the terminal is the launcher's to handle.
    detached: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.account === undefined ? {} : options.account),
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

/** As `commandOutput`, but answers `undefined` when there is no such program, or none that this user may run. */
export async function outputIfInstalled(
  command: string,
  args: readonly string[],
): Promise<CommandOutput | undefined> {
  try {
    return await commandOutput(command, args);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // EACCES is also what a closed folder on PATH answers when no later one has the program.
    if (code === "ENOENT" || code === "EACCES") return undefined;
    throw error;
  }
}

/** The last lines that say something, as one line. */
export function lastLinesOf(text: string, lines = 2): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(-lines)
    .join(" / ")
    .slice(0, 400);
}
