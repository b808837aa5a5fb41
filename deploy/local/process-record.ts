import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseJson } from "./kept-files.ts";
import { processIdentity } from "./process-identity.ts";

/** A file that identifies a running process, so that the next start finds what a killed launcher left running. */
export type ProcessRecord = {
  readonly pid: number;
  readonly identity: string;
  /** The command, for messages. */
  readonly command: string;
};

const POLL_MS = 25;
const KILL_WAIT_MS = 5_000;

/** Writes the record atomically. Writes nothing if the process has already ended. */
export function writeProcessRecord(file: string, pid: number, command: string): void {
  const identity = processIdentity(pid);
  if (identity === undefined) return;
  const record: ProcessRecord = { pid, identity, command };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  renameSync(draft, file);
}

/** The recorded process if it is running; `undefined` without a file, for an incomplete file, or if the process has ended. */
export function readLiveProcess(file: string): ProcessRecord | undefined {
  const record = readProcessRecord(file);
  return record !== undefined && isSameProcess(record) ? record : undefined;
}

/** Removes the file, unless another process has written its own record there in the meantime. */
export function removeProcessRecord(file: string, pid: number): void {
  if (readProcessRecord(file)?.pid === pid) rmSync(file, { force: true });
}

export interface StopRecordedOptions {
  file: string;
  stopSignal: NodeJS.Signals;
  /** After this the process is killed. */
  deadlineMs: number;
}

/**
 * Stops a process that a killed launcher left running, and returns its record; `undefined` if there is none. Signals only the recorded
 * process: a later one with the same process id has another identity.
 */
export async function stopRecordedProcess(
  options: StopRecordedOptions,
): Promise<ProcessRecord | undefined> {
  const record = readLiveProcess(options.file);
  if (record !== undefined) {
    signalProcess(record.pid, options.stopSignal);
    if (!(await hasEnded(record, options.deadlineMs))) {
      signalProcess(record.pid, "SIGKILL");
      await hasEnded(record, KILL_WAIT_MS);
    }
  }
  rmSync(options.file, { force: true });
  return record;
}

/** Sends a signal. A process that has just ended is not an error. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return;
    throw error;
  }
}

function readProcessRecord(file: string): ProcessRecord | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const record = parseJson(text);
  return isProcessRecord(record) ? record : undefined;
}

/** Checked by hand, because each leash reads its record, and zod takes half of the processor time of its start. */
function isProcessRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== "object" || value === null) return false;
  if (!("pid" in value && "identity" in value && "command" in value)) return false;
  const { pid, identity, command } = value;
  const isPid = typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0;
  return isPid && typeof identity === "string" && typeof command === "string";
}

function isSameProcess(record: ProcessRecord): boolean {
  return processIdentity(record.pid) === record.identity;
}

async function hasEnded(record: ProcessRecord, deadlineMs: number): Promise<boolean> {
  const endAtMs = performance.now() + deadlineMs;
  while (isSameProcess(record)) {
    if (performance.now() >= endAtMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}
