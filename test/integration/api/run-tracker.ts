import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { CommandEnvironment } from "../../../api/command-line/command.ts";
import { runCommand } from "../../../api/command-line/run-command.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import type { ApiWorld } from "./api-world.ts";

/** Runs a command of the command line on the database of a world; answers what it prints. */
export async function runTracker(world: ApiWorld, ...args: string[]): Promise<string> {
  return (await runTalking(world, { signal: new AbortController().signal, tell: ignore }, args))
    .result;
}

function ignore(): void {
  // The result is all that the caller asks for.
}

/** The same with the lines that it reports on the way, and a signal that stops it. */
export async function runTalking(
  world: ApiWorld,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (line: string) => void },
  args: readonly string[],
): Promise<{
  readonly result: string;
  readonly told: readonly string[];
  readonly isWell: boolean;
}> {
  const told: string[] = [];
  let isWell = true;
  const result = await runCommand(args, environmentOf(world), {
    report: (line) => {
      told.push(line);
      tell(line);
    },
    notWell: () => {
      isWell = false;
    },
    interruption: () => signal,
  });
  return { result, told, isWell };
}

function environmentOf(world: ApiWorld): CommandEnvironment {
  return {
    dataDir: "/nowhere",
    apiUrl: "http://api.example",
    trackingUrl: "http://127.0.0.1:8080",
    natsPrefix: world.env.NATS_PREFIX,
    natsReplicas: 1,
    servers: {
      postgresUrl: world.env.POSTGRES_URL,
      natsUrl: world.env.NATS_URL,
      clickhouseUrl: undefined,
    },
  };
}

type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The program itself, as its own process. */
export function spawnTracker(
  world: ApiWorld,
  ...args: string[]
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [projectFile(".build", "api", "tracker.js"), ...args], {
    env: { ...process.env, POSTGRES_URL: world.env.POSTGRES_URL, DATA_DIR: "/nowhere" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([, stdout, stderr]) => ({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
  );
  return { child, ended };
}
