import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { Command, CommandArguments, Terminal } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";

const SECONDS_MAX = 7 * 86_400;
const FAILED = "Not everything is shipped: see the lines above.";

const ship: Command = {
  name: "journal ship",
  summary: "ships the clicks of journals whose ingress will not come back",
  options: {
    seconds: { value: "N", summary: "stop after this time; default: when all is stored" },
  },
  examples: ["journal ship", "journal ship --seconds 600"],
  notes: `Run it on the machine of the journals, or where their volume is attached, with
DATA_DIR, POSTGRES_URL and NATS_URL as the ingress had them. Click writers must
run: a click counts as shipped when it is stored. Exit code 0: nothing is left,
the volume may go. 1: something is left, was lost, or belongs to a process that
runs. Safe to repeat and to interrupt. Attach the volume, never copy it.`,
  run: async (given, _environment, terminal) => await runProgram(argumentsOf(given), terminal),
};

function argumentsOf(given: CommandArguments): string[] {
  const seconds = given.text("seconds");
  if (seconds === undefined) return [];
  if (!/^\d{1,6}$/.test(seconds) || Number(seconds) < 1 || Number(seconds) > SECONDS_MAX) {
    throw new UsageError(`--seconds ${seconds} is not a number from 1 to ${SECONDS_MAX}.`);
  }
  return ["--seconds", seconds];
}

/** The program is a part of ingress, which knows journals. It reads the settings of ingress itself. */
async function runProgram(args: readonly string[], terminal: Terminal): Promise<string> {
  const program = projectFile(".build", "ingress", "ship", "main.js");
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  terminal.interruption().addEventListener("abort", () => child.kill("SIGTERM"));
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (child.exitCode !== 0) {
    const { exitCode } = child;
    throw new CommandError(FAILED, exitCode === null ? {} : { exitCode });
  }
  return output.trimEnd();
}

export const journalCommands: readonly Command[] = [ship];
