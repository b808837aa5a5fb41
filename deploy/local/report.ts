/** The launcher's output. `part` is the process or server that a line is about. */
export interface Report {
  note(part: string, text: string): void;
  warn(part: string, text: string): void;
}

export interface TerminalReportOptions {
  write: (text: string) => void;
  colours: boolean;
}

const COLUMNS_MAX = 100;
const PART_COLUMNS = 14;

/** Output for people: one aligned line per event, wrapped at 100 columns, colours only if requested. */
export function terminalReport({ write, colours }: TerminalReportOptions): Report {
  const paint = (code: number, text: string): string =>
    colours ? `\u001b[${code}m${text}\u001b[0m` : text;
  const print = (code: number, part: string, text: string): void => {
    const [first = "", ...rest] = wrapText(text, COLUMNS_MAX - PART_COLUMNS);
    write(`${paint(code, part.padEnd(PART_COLUMNS))}${first}\n`);
    for (const line of rest) write(`${" ".repeat(PART_COLUMNS)}${line}\n`);
  };
  return {
    note: (part, text) => print(36, part, text),
    warn: (part, text) => print(33, part, text),
  };
}

/** Breaks at spaces so that no line is longer than `columns`; a longer word (an address, a link) stays whole. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > columns) {
        lines.push(line);
        line = word;
      } else {
        line = line === "" ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}

/** `0.4 s`, `12 s`, `2 min 5 s`: how long something took, for a person. */
export function formatSeconds(durationMs: number): string {
  if (durationMs < 9_950) return `${(durationMs / 1_000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/**
 * A start that cannot continue. The message is a full sentence for the operator: what is wrong and what to do about it. Nothing else is
 * printed, no stack.
 */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}
