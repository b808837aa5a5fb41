import { PROGRAM_ROLES, type ProgramRole } from "../../schemas/host/program-roles.ts";
import { similarName } from "../../schemas/names/nearest-name.ts";
import { type Command, type CommandEnvironment, readArguments, type Terminal } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { allCommands, commandsFrom } from "./command-files.ts";
import { helpOf, helpOfAll, helpOfRole, helpOfSome, usageOf } from "./help.ts";

const NAME_WORDS_MAX = 3;

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
  if (first === "" || isHelp(first)) return helpOfAll(await allCommands());
  if (first === "help") return await helpFor(others);
  const command = await commandOf(args);
  if (command === undefined) {
    if (args.some(isHelp)) return await helpFor(wordsOf(args));
    throw roleOf(args) === undefined ? await unknownCommand(wordsOf(args)) : notStartedHere(first);
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

async function helpFor(words: readonly string[]): Promise<string> {
  if (words.length === 0) return helpOfAll(await allCommands());
  const role = roleOf(words);
  if (role !== undefined) return helpOfRole(role);
  const command = await commandOf(words);
  if (command !== undefined) return helpOf(command);
  const some = await commandsOf(words);
  if (some.length === 0) throw await unknownCommand(words);
  return helpOfSome(some);
}

/** The command whose name begins the arguments. The longest name wins: "workspace settings show" has three words. */
async function commandOf(args: readonly string[]): Promise<Command | undefined> {
  const commands = await commandsFrom(args[0] ?? "");
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
async function commandsOf(words: readonly string[]): Promise<Command[]> {
  const commands = await commandsFrom(words[0] ?? "");
  return commands.filter(({ name }) => `${name} `.startsWith(`${words.join(" ")} `));
}

async function unknownCommand(words: readonly string[]): Promise<UsageError> {
  const related = await commandsOf(words.slice(0, 1));
  const all = await allCommands();
  const meant = meantCommand(words, related.length > 0 ? related : all);
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  return new UsageError(`There is no command "${words.slice(0, 3).join(" ")}".${hint}`, {
    usage: related.length > 0 ? helpOfSome(related) : helpOfAll(all),
  });
}

/** The command that these words misspell. Words after the command's name are its arguments. */
function meantCommand(words: readonly string[], commands: readonly Command[]): string | undefined {
  for (let count = Math.min(words.length, NAME_WORDS_MAX); count > 0; count -= 1) {
    const names = commands.map(({ name }) => name).filter((name) => wordsIn(name) === count);
    const meant = similarName(words.slice(0, count).join(" "), names);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

function wordsIn(name: string): number {
  return name.split(" ").length;
}

function wordsOf(args: readonly string[]): string[] {
  const end = args.findIndex((word) => word.startsWith("-"));
  return args.slice(0, end === -1 ? undefined : end);
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}
