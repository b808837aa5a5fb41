import { settingsOrUndefined } from "../schemas/host/read-settings.ts";
import { isPostgresAway } from "../schemas/postgres/errors.ts";
import { OtherSchemaError } from "../schemas/versions/judge-schema.ts";
import type { Terminal } from "./cli/command.ts";
import { CommandError, UsageError } from "./cli/command-error.ts";
import { runCommand } from "./cli/run-command.ts";
import { readCommandSettings } from "./settings.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_OTHER_SCHEMA = 3;

const terminal: Terminal = {
  report: (line) => console.error(line),
  draw: (text) => {
    process.stdout.write(text);
  },
  markFailed: (exitCode = EXIT_FAILED) => {
    process.exitCode = exitCode;
  },
  interruption: () => {
    const stop = new AbortController();
    // The second signal ends the process at once.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    return stop.signal;
  },
};

/** The command line for operators. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the database is newer than this release. */
async function main(): Promise<void> {
  try {
    const settings = settingsOrUndefined(readCommandSettings);
    if (settings === undefined) return;
    const result = await runCommand(process.argv.slice(2), settings, terminal);
    if (result !== "") console.log(result);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    console.error(sentenceOf(error));
  }
}

/** Resolves when the stream has passed everything on, or its reader has gone. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.once("error", () => resolve());
    stream.write("", () => resolve());
  });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT_USAGE;
  if (error instanceof CommandError && error.exitCode !== undefined) return error.exitCode;
  return error instanceof OtherSchemaError ? EXIT_OTHER_SCHEMA : EXIT_FAILED;
}

function sentenceOf(error: unknown): string {
  if (error instanceof UsageError)
    return error.usage === undefined ? error.message : `${error.message}\n\n${error.usage}`;
  if (error instanceof CommandError) return error.message;
  const message = error instanceof Error ? error.message || error.name : String(error);
  return isPostgresAway(error) ? `Postgres does not answer: ${message}` : message;
}

await main();
await Promise.all([process.stdout, process.stderr].map(written));
// A server that hangs would keep its connection, and with it this process, for as long as it likes.
process.exit();
