import { SettingsError } from "../schemas/host/read-settings.ts";
import { isPostgresAway } from "../schemas/postgres/errors.ts";
import { CommandError, UsageError } from "./command-line/command-error.ts";
import { runCommand, USAGE } from "./command-line/run-command.ts";
import { readCommandSettings } from "./settings.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The command line of operators (management.md). Exit codes: 0 done, 1 not done, 2 written wrongly. */
async function main(): Promise<void> {
  try {
    console.log(await runCommand(process.argv.slice(2), readCommandSettings()));
  } catch (error) {
    process.exitCode =
      error instanceof UsageError || error instanceof SettingsError ? EXIT_USAGE : EXIT_FAILED;
    console.error(sentenceOf(error));
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof SettingsError) return `The settings are wrong:\n${error.message}`;
  if (error instanceof CommandError) return error.message;
  const message = error instanceof Error ? error.message || error.name : String(error);
  return isPostgresAway(error) ? `Postgres does not answer: ${message}` : message;
}

await main();
