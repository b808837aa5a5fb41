import { PROGRAM_ROLES, type ProgramRole } from "../../schemas/host/program-roles.ts";
import type { Command } from "./command.ts";

const PROGRAM = "npm run tracker --";
const WIDTH = 80;

const SERVERS = `The servers are those of POSTGRES_URL, NATS_URL and CLICKHOUSE_URL, else those that
\`npm start\` runs in DATA_DIR.`;

/** Every role and command in one or two lines. */
export function helpOfAll(commands: readonly Command[]): string {
  return `Usage: ${PROGRAM} <role|command>

Roles, which run until a signal ends them:
${listed(PROGRAM_ROLES)}

Commands:
${listed(commands)}

\`${PROGRAM} help <role|command>\` shows the details of one of them.
Exit codes of commands: 0 done, 1 failed, 2 wrong usage, 3 the database is from a newer release.
${SERVERS}`;
}

/** The commands that begin with the same words, such as all commands for keys. */
export function helpOfSome(commands: readonly Command[]): string {
  return `Usage: ${PROGRAM} <command>\n\n${listed(commands)}`;
}

function listed(named: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...named.map(({ name }) => name.length));
  return named.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
}

/** The full help of one role. */
export function helpOfRole({ name, summary, options, notes }: ProgramRole): string {
  const usage = [name, ...options.map(([option]) => `[${option}]`)].join(" ");
  return [
    `Usage: ${PROGRAM} ${usage}`,
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    ...options.map(([option, meaning]) => `  ${option}  ${meaning}`),
    notes,
    `Exit codes: 0 ended by a signal, 1 failed, 2 wrong settings, 3 the database is from a newer
release, 4 a check of DURABILITY=strict failed. deploy/pages/processes.md has more.`,
  ].join("\n\n");
}

/** The full help of one command, with examples. */
export function helpOf(command: Command): string {
  const { operand, options, summary, examples, notes } = command;
  const lines: [string, string][] = [
    ...(operand === undefined ? [] : ([[operand.name, operand.summary]] as [string, string][])),
    ...Object.entries(options).map(([name, option]): [string, string] => [
      written(name, option.value),
      option.summary,
    ]),
  ];
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  const about = lines.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join("\n");
  return [
    usageOf(command),
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    ...(about === "" ? [] : [about]),
    ...(notes === undefined ? [] : [notes]),
    `${examples.length === 1 ? "Example" : "Examples"}:\n${examples.map((one) => `  ${PROGRAM} ${one}`).join("\n")}`,
  ].join("\n\n");
}

/** The usage line of a command, wrapped to the width of a terminal. */
export function usageOf({ name, operand, options }: Command): string {
  const words = [
    ...(operand === undefined
      ? []
      : [operand.isRepeated === true ? `${operand.name}…` : operand.name]),
    ...Object.entries(options).map(([option, { value, isRequired, isRepeatable }]) => {
      const text = written(option, value);
      const repeated = isRepeatable === true ? "…" : "";
      return isRequired === true ? text : `[${text}]${repeated}`;
    }),
  ];
  return wrapped(`Usage: ${PROGRAM} ${name}`, words, "         ");
}

/** Joins words with spaces and wraps them to the width of a terminal. */
export function wrapped(start: string, words: readonly string[], indent = ""): string {
  const lines = [start];
  for (const word of words) {
    const last = lines.at(-1) ?? "";
    if (last.length + word.length + 1 > WIDTH) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join("\n");
}

function written(option: string, value: string | undefined): string {
  return value === undefined ? `--${option}` : `--${option} ${value}`;
}
