import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { LineSplitter } from "./log-lines.ts";
import { removeProcessRecord, writeProcessRecord } from "./process-record.ts";
import type { Report } from "./report.ts";
import { RotatingLog } from "./rotating-log.ts";

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running process that the launcher manages. */
export interface Child {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** Stops it cleanly, and kills it after its deadline. Safe to call twice and after it has ended. */
  stop(): Promise<void>;
}

export interface StartChildOptions {
  name: string;
  command: string;
  args: readonly string[];
  /** Absent: the launcher's own environment. */
  env?: Record<string, string>;
  dataDir: string;
  report: Report;
  /** How to stop it: by a signal, or by closing its standard input. */
  stopBy: "SIGTERM" | "stdin-end";
  /** Time for a clean stop before it is killed. */
  stopDeadlineMs: number;
  /** Called with each line of standard output and error, after it was logged. */
  onLine?: (line: string) => void;
}

const LAST_LINES_KEPT = 12;
const OUTPUT_WAIT_MS = 250;

/** A started process with its last lines of output, for the message about a failed start. */
export interface StartedChild extends Child {
  lastLines(): readonly string[];
  /** At once, without a clean stop. Does nothing after it has ended. */
  kill(): void;
}

/**
 * Starts a process whose output goes to `DATA_DIR/logs/<name>.log` and whose record to `DATA_DIR/run/<name>.pid`.
 *
 * It gets its own process group, so that Ctrl-C at the terminal reaches only the launcher, which then stops the processes in order. Its
 * standard input is a pipe that the launcher holds open. When the launcher is killed, the pipe closes and the child stops.
 *
 * @throws when the program cannot be started at all (not found, not allowed).
 */
export async function startChild(options: StartChildOptions): Promise<StartedChild> {
  const recordFile = processRecordFile(options.dataDir, options.name);
  const process = spawn(options.command, options.args, {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    env: options.env,
  });
  const exited = endOf(process);
  await hasSpawned(process);
  const pid = process.pid ?? 0;
  writeProcessRecord(recordFile, pid, basename(options.command));
  void exited.then(() => removeProcessRecord(recordFile, pid));
  // A child that has ended closes its end. Errors of later writes do not matter.
  process.stdin?.on("error", () => undefined);
  const lastLines: string[] = [];
  logOutput(options, [process.stdout, process.stderr], lastLines);
  return {
    pid,
    exited,
    stop: () => stopChild(process, exited, options),
    lastLines: () => lastLines,
    kill: () => void process.kill("SIGKILL"),
  };
}

/** The process record of the child with this name. */
export function processRecordFile(dataDir: string, name: string): string {
  return join(dataDir, "run", `${name}.pid`);
}

/** `ended with code 1`, `was killed by SIGKILL`. */
export function describeExit(exit: ChildExit): string {
  return exit.signal === null
    ? `ended with code ${exit.code ?? "unknown"}`
    : `was killed by ${exit.signal}`;
}

/** Settles after the process has ended and its last output was read, unless another process still holds the pipes. */
function endOf(process: ChildProcess): Promise<ChildExit> {
  return new Promise((resolve) => {
    process.once("exit", (code, signal) => {
      const timer = setTimeout(() => resolve({ code, signal }), OUTPUT_WAIT_MS);
      process.once("close", () => {
        clearTimeout(timer);
        resolve({ code, signal });
      });
    });
  });
}

async function hasSpawned(process: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.once("spawn", resolve);
    process.once("error", reject);
  });
}

function logOutput(
  { name, dataDir, report, onLine }: StartChildOptions,
  streams: readonly (Readable | null)[],
  lastLines: string[],
): void {
  const log = new RotatingLog(join(dataDir, "logs", `${name}.log`), (cause) => {
    report.warn(name, `its log cannot be written: ${cause.message}`);
  });
  for (const stream of streams) {
    if (stream === null) continue;
    const lines = new LineSplitter((line) => {
      lastLines.push(line);
      if (lastLines.length > LAST_LINES_KEPT) lastLines.shift();
      onLine?.(line);
    });
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      log.write(text);
      lines.push(text);
    });
    stream.once("end", () => lines.end());
  }
}

async function stopChild(
  process: ChildProcess,
  exited: Promise<ChildExit>,
  { stopBy, stopDeadlineMs }: StartChildOptions,
): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  if (stopBy === "SIGTERM") process.kill("SIGTERM");
  else process.stdin?.end();
  const deadline = setTimeout(() => process.kill("SIGKILL"), stopDeadlineMs);
  try {
    await exited;
  } finally {
    clearTimeout(deadline);
  }
}

/** Creates the folders for logs and process records. */
export function prepareChildFolders(dataDir: string): void {
  // Servers also write their own logs here, some readable by all users. Statements in them may contain personal data.
  for (const folder of ["logs", "run"]) {
    mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 });
  }
}
