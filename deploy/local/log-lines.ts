import { z } from "zod";
import { parseJson } from "./kept-files.ts";

/** Lines of pino as `schemas/host/log.ts` writes them. Everything else in them is shown as it is. */
const LogLine = z.looseObject({
  level: z.union([z.string(), z.number()]),
  msg: z.string().default(""),
});

/** Lines of `schemas/host/access-log.ts`: for the log file. Requests that fail in a loop would hide every warning. */
const AccessLine = z.looseObject({ t: z.string(), role: z.string(), status: z.number() });

const WARN_LEVELS = new Set<string | number>(["warn", "error", "fatal", 40, 50, 60]);
const NOT_SHOWN = new Set(["level", "time", "msg", "pid", "process", "hostname", "name", "v"]);
const SHOWN_CHARS_MAX = 400;

/**
 * The text that the terminal shows for a line of a process: shortened warnings and errors of its log, and anything that is not a log line,
 * such as a crash. `undefined` for other lines, such as lines of the access log.
 */
export function shownLine(line: string): string | undefined {
  if (line.trim() === "") return undefined;
  const json = line.startsWith("{") ? parseJson(line) : undefined;
  if (AccessLine.safeParse(json).success) return undefined;
  const parsed = LogLine.safeParse(json);
  if (!parsed.success) return line.slice(0, SHOWN_CHARS_MAX);
  const { level, msg } = parsed.data;
  if (!WARN_LEVELS.has(level)) return undefined;
  const fields = Object.entries(parsed.data)
    .filter(([name]) => !NOT_SHOWN.has(name))
    .map(([name, value]) => `${name}=${shownValue(value)}`);
  return [msg, ...fields].join(" ").slice(0, SHOWN_CHARS_MAX);
}

/** The message of an error, because its stack does not fit into a line. */
function shownValue(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value)
    return String(value.message);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Lets at most `linesMax` lines through in any window of `windowMs`, so that a process that complains in a loop does not
 * hide the others. `pass` returns what to print, including how many lines were left out before.
 */
export class LineLimiter {
  readonly #linesMax: number;
  readonly #windowMs: number;
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #passed = 0;
  #leftOut = 0;

  constructor(linesMax: number, windowMs: number) {
    this.#linesMax = linesMax;
    this.#windowMs = windowMs;
  }

  pass(line: string, nowMs: number): string | undefined {
    let before = 0;
    if (nowMs - this.#windowStartMs >= this.#windowMs) {
      before = this.#leftOut;
      this.#windowStartMs = nowMs;
      this.#passed = 0;
      this.#leftOut = 0;
    }
    if (this.#passed >= this.#linesMax) {
      this.#leftOut += 1;
      return undefined;
    }
    this.#passed += 1;
    return before === 0 ? line : `(${before} lines left out) ${line}`;
  }
}

/** Longer lines are cut. */
const LINE_CHARS_MAX = 8_192;

/** Splits a stream of text into lines and passes each on without its line end. Holds at most one unfinished line. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = (parts.pop() ?? "").slice(0, LINE_CHARS_MAX);
    for (const line of parts) this.#onLine(line.slice(0, LINE_CHARS_MAX).trimEnd());
  }

  /** Passes on the last line if it has no line end. */
  end(): void {
    if (this.#rest !== "") this.#onLine(this.#rest.trimEnd());
    this.#rest = "";
  }
}
