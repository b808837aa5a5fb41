import { type ParseArgsConfig, parseArgs } from "node:util";
import type { DurabilitySettings } from "../../schemas/checks/check.ts";
import { similarName } from "../../schemas/names/nearest-name.ts";
import type { NatsSpace } from "../../schemas/nats/lane-groups.ts";
import type { StreamSettings } from "../../schemas/nats/stream-settings.ts";
import type { PostgresServer } from "../../schemas/postgres/connect.ts";
import { UsageError } from "./command-error.ts";
import type { Servers } from "./servers.ts";

/** Settings that commands take from the environment. */
export type CommandEnvironment = {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly natsSpace: NatsSpace;
  /** What the streams must have at least. */
  readonly streams: StreamSettings;
  /** Number of click lanes that `migrate` gives a new installation; undefined: as it is. */
  readonly lanes: number | undefined;
  readonly durability: DurabilitySettings;
  /** Past PgBouncer, for migrations. */
  readonly postgresDirect: PostgresServer | undefined;
  /** Files that hold secrets, as the variables `…_FILE` name them. */
  readonly secretFiles: readonly string[];
  /** The ring of keys; `file` is undefined where the environment itself has it. */
  readonly secretKeys: {
    readonly read: () => string | undefined;
    readonly file: string | undefined;
  };
  readonly servers: { readonly [Name in keyof Servers]: Servers[Name] | undefined };
};

/** Output to the person who runs the command, other than the result. */
export type Terminal = {
  /** Prints one line that is not part of the result, such as progress. */
  readonly report: (line: string) => void;
  /** Writes to the output at once, as it is: for a command that shows something again and again. */
  readonly draw?: (text: string) => void;
  /** Call when the result is printed but shows a problem. Sets the exit code; 1 by default. The last call counts. */
  readonly markFailed?: (exitCode?: number) => void;
  /**
   * Aborted when the person interrupts the command. A command that asks for this signal must stop by itself; any other command is
   * ended by the signal.
   */
  readonly interruption: () => AbortSignal;
};

export type CommandOption = {
  /** Name of the value in the usage; a switch has none. */
  readonly value?: string;
  readonly summary: string;
  readonly isRequired?: true;
  readonly isRepeatable?: true;
};

/** One command. Usage, help and argument parsing are generated from it. To add a command, put it into a list in command-files.ts. */
export type Command = {
  /** The words that invoke it: "key create". */
  readonly name: string;
  /** The required operand after the command's words; `isRepeated` for one or more. */
  readonly operand?: {
    readonly name: string;
    readonly summary: string;
    readonly isRepeated?: true;
  };
  /** One line that says what it does. */
  readonly summary: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Whole command lines, without `npm run tracker --`. */
  readonly examples: readonly [string, ...string[]];
  /** Further notes, shown only in the help of this command. */
  readonly notes?: string;
  /** Returns what to print. */
  readonly run: (
    given: CommandArguments,
    environment: CommandEnvironment,
    terminal: Terminal,
  ) => Promise<string>;
};

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** The parsed arguments of a command. All required ones are present. */
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

  /** For an option that the command requires. */
  required(option: string): string {
    const value = this.text(option);
    if (value === undefined) throw new UsageError(`--${option} is missing.`);
    return value;
  }

  /** For an option that may be repeated; empty when it is left out. */
  texts(option: string): string[] {
    const value = this.#values[option];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  has(option: string): boolean {
    return this.#values[option] === true;
  }
}

/** Parses the arguments after the command's words. @throws {UsageError} */
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
    throw new UsageError(`Unexpected argument "${positionals[most] ?? ""}".`);
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
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(unknownOption(message, Object.keys(options)) ?? message, { cause: error });
  }
}

/** A sentence about an option that the command does not have; undefined for another fault. Node names the option in its message only. */
function unknownOption(message: string, known: readonly string[]): string | undefined {
  const given = /^Unknown option '(--?[^']+)'/.exec(message)?.[1];
  if (given === undefined) return undefined;
  const meant = similarName(given.replace(/^-+/, ""), known);
  return `There is no option ${given}.${meant === undefined ? "" : ` Did you mean --${meant}?`}`;
}
