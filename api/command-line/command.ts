import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "./command-error.ts";
import type { ServerUrls } from "./servers.ts";

/** What commands take from the environment. */
export type CommandEnvironment = {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly natsPrefix: string;
  readonly natsReplicas: number;
  readonly servers: { readonly [Name in keyof ServerUrls]: string | undefined };
};

/** The person at the other end, besides the result. */
export type Terminal = {
  /** One line that is no result: how far a long command is. */
  readonly tell: (line: string) => void;
  /** The result is printed, but what the command looked for is not well: exit code 1. */
  readonly notWell?: () => void;
  /** Aborted when the person wants to stop. Whoever asks for it stops by itself; others are ended by the signal. */
  readonly interruption: () => AbortSignal;
};

export type CommandOption = {
  /** How the value is called in the usage; a switch has none. */
  readonly value?: string;
  readonly summary: string;
  readonly isRequired?: true;
  readonly isRepeatable?: true;
};

/** One command. Usage, help and the reading of arguments are made from it: to add one, add it to a list of commands.ts. */
export type Command = {
  /** The words that call it: "key create". */
  readonly name: string;
  /** What stands behind the words without a name, all of it required; `isRepeated` for one or more. */
  readonly operand?: {
    readonly name: string;
    readonly summary: string;
    readonly isRepeated?: true;
  };
  /** What it does, in one line. */
  readonly summary: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Whole command lines behind `npm run tracker --`. */
  readonly examples: readonly [string, ...string[]];
  /** More to know, shown by its help only. */
  readonly notes?: string;
  /** Answers what to print. */
  readonly run: (
    given: CommandArguments,
    environment: CommandEnvironment,
    terminal: Terminal,
  ) => Promise<string>;
};

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** What a command was given: all that it requires is there. */
export class CommandArguments {
  readonly operands: readonly string[];
  readonly #values: Values;

  constructor(values: Values, operands: readonly string[]) {
    this.#values = values;
    this.operands = operands;
  }

  get operand(): string {
    return this.operands[0] ?? "";
  }

  /** Undefined for an option that was left out. */
  text(option: string): string | undefined {
    const value = this.#values[option];
    return typeof value === "string" ? value : undefined;
  }

  /** Of an option that the command requires. */
  required(option: string): string {
    const value = this.text(option);
    if (value === undefined) throw new UsageError(`--${option} is missing.`);
    return value;
  }

  /** Of an option that may be repeated; none when it was left out. */
  texts(option: string): string[] {
    const value = this.#values[option];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  has(option: string): boolean {
    return this.#values[option] === true;
  }
}

/** Reads what stands behind the words of a command. @throws {UsageError} */
export function readArguments(command: Command, args: readonly string[]): CommandArguments {
  const { values, positionals } = parse(command, args);
  const missing = Object.entries(command.options)
    .filter(([name, { isRequired }]) => isRequired === true && values[name] === undefined)
    .map(([name]) => `--${name}`);
  if (missing.length > 0) throw new UsageError(`${missing.join(", ")} is missing.`);
  const { operand } = command;
  if (operand !== undefined && positionals.length === 0) {
    throw new UsageError(`${operand.name} is missing: ${operand.summary}.`);
  }
  const most = operand === undefined ? 0 : operand.isRepeated === true ? Infinity : 1;
  if (positionals.length > most) {
    throw new UsageError(`"${positionals[most] ?? ""}" is one word too many.`);
  }
  return new CommandArguments(values, positionals);
}

function parse(
  command: Command,
  args: readonly string[],
): { readonly values: Values; readonly positionals: string[] } {
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  for (const [name, { value, isRepeatable }] of Object.entries(command.options)) {
    options[name] = {
      type: value === undefined ? "boolean" : "string",
      multiple: isRepeatable === true,
    };
  }
  try {
    return parseArgs({
      args: [...args],
      options,
      strict: true,
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
