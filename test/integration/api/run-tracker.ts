import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { CommandEnvironment } from "../../../api/cli/command.ts";
import { runCommand } from "../../../api/cli/run-command.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { STREAM_DEFAULTS } from "../../../schemas/nats/stream-settings.ts";
import { RELAXED } from "../../samples/durability.ts";
import { SECRETS_KEY } from "../../samples/secret-keys.ts";
import type { Stores } from "../../services/stores.ts";

/** Runs a command of the command line on the database of a world; returns what it prints. */
export async function runTracker(world: Pick<Stores, "env">, ...args: string[]): Promise<string> {
  return (await runCommandOn(world, args)).result;
}

/** Runs a command; `onLine` gets each progress line as it is reported, and `signal` stops the command. */
export async function runCommandOn(
  { env }: Pick<Stores, "env">,
  args: readonly string[],
  options: {
    readonly signal?: AbortSignal;
    readonly onLine?: (line: string) => void;
    readonly secretKeys?: CommandEnvironment["secretKeys"];
  } = {},
): Promise<{
  readonly result: string;
  readonly lines: readonly string[];
  readonly isWell: boolean;
}> {
  const lines: string[] = [];
  let isWell = true;
  const environment = {
    dataDir: "/nowhere",
    apiUrl: "http://api.example",
    trackingUrl: "http://127.0.0.1:8080",
    natsSpace: { prefix: env.NATS_PREFIX },
    streams: STREAM_DEFAULTS,
    durability: RELAXED,
    lanes: undefined,
    postgresDirect: undefined,
    secretFiles: [],
    secretKeys: options.secretKeys ?? { read: () => SECRETS_KEY, file: undefined },
    servers: {
      postgres: { url: env.POSTGRES_URL },
      nats: { url: env.NATS_URL },
      clickhouse: { url: env.CLICKHOUSE_URL },
    },
  };
  const result = await runCommand(args, environment, {
    report: (line) => {
      lines.push(line);
      options.onLine?.(line);
    },
    markFailed: () => {
      isWell = false;
    },
    interruption: () => options.signal ?? new AbortController().signal,
  });
  return { result, lines, isWell };
}

type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs the command as its own process. */
export function spawnTracker(
  world: Pick<Stores, "env">,
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
