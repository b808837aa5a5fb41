import { PROGRAM_ROLES, type ProgramRole } from "../../schemas/host/program-roles.ts";
import { type Command, type CommandEnvironment, readArguments, type Terminal } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { commands } from "./commands.ts";
import { helpOf, helpOfAll, helpOfRole, helpOfSome, usageOf } from "./help.ts";

/**
 * Runs one command and returns what to print.
 * @throws {UsageError} for wrong arguments, {@link CommandError} for a failure that a person can correct.
 */
export async function runCommand(
  args: readonly string[],
  environment: CommandEnvironment,
  terminal: Terminal,
): Promise<string> {
  const [first = "", ...others] = args;
  if (first === "" || isHelp(first)) return helpOfAll(commands);
  if (first === "help") return helpFor(others);
  const command = commandOf(args);
  if (command === undefined) {
    if (args.some(isHelp)) return helpFor(wordsOf(args));
    throw roleOf(args) === undefined ? unknownCommand(wordsOf(args)) : notStartedHere(first);
  }
  const rest = args.slice(command.name.split(" ").length);
  if (rest.some(isHelp)) return helpOf(command);
  try {
    return await command.run(readArguments(command, rest), environment, terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message, { cause: error, usage: usageOf(command) });
  }
}

function helpFor(words: readonly string[]): string {
  if (words.length === 0) return helpOfAll(commands);
  const role = roleOf(words);
  if (role !== undefined) return helpOfRole(role);
  const command = commandOf(words);
  if (command !== undefined) return helpOf(command);
  const some = commandsOf(words);
  if (some.length === 0) throw unknownCommand(words);
  return helpOfSome(some);
}

/** The command whose name begins the arguments. The longest name wins: "workspace settings show" has three words. */
function commandOf(args: readonly string[]): Command | undefined {
  return commands
    .filter(({ name }) => name.split(" ").every((word, index) => word === args[index]))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

function roleOf([word]: readonly string[]): ProgramRole | undefined {
  return PROGRAM_ROLES.find(({ name }) => name === word);
}

function notStartedHere(role: string): UsageError {
  return new UsageError(
    `${role} is a role and not a command. .build/deploy/tracker.js starts it, this program does not.`,
  );
}

/** Commands whose names begin with the words. */
function commandsOf(words: readonly string[]): Command[] {
  return commands.filter(({ name }) => `${name} `.startsWith(`${words.join(" ")} `));
}

function unknownCommand(words: readonly string[]): UsageError {
  const related = commandsOf(words.slice(0, 1));
  return new UsageError(`There is no command "${words.slice(0, 3).join(" ")}".`, {
    usage: related.length > 0 ? helpOfSome(related) : helpOfAll(commands),
  });
}

function wordsOf(args: readonly string[]): string[] {
  const end = args.findIndex((word) => word.startsWith("-"));
  return args.slice(0, end === -1 ? undefined : end);
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}
