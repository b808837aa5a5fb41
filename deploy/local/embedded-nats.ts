import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { prepareChildFolders } from "./child.ts";
import { lastLinesOf } from "./command-output.ts";
import type { EmbeddedServer, EmbeddedServerOptions } from "./embedded-server.ts";
import { parseJson, storedSecret } from "./kept-files.ts";
import { awaitReady, startLeashed } from "./leashed-server.ts";
import { natsProgram } from "./nats-program.ts";
import { formatSeconds, LaunchError } from "./report.ts";
import { LOG_FILE_BYTES_MAX, logSince } from "./rotating-log.ts";

const READY_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 20_000;
const USER = "tracker";
/** The user of the system account asks the server for its settings, and sees no message of ours. */
const SYSTEM_USER = "system";
const GREETING_WAIT_MS = 2_000;
const GREETING_BYTES_MAX = 16_384;

/** The parts that we need of the line with which a NATS server greets every connection. */
const Greeting = z.object({
  server_name: z.string(),
  version: z.string(),
  jetstream: z.boolean().default(false),
});
export type Greeting = z.infer<typeof Greeting>;

export type NatsOptions = EmbeddedServerOptions & {
  /** Acknowledge a message only after a sync of the disk, as `DURABILITY=strict` demands. */
  readonly syncsAlways?: boolean;
};

export type EmbeddedNats = EmbeddedServer & { readonly systemUrl: string };

/**
 * NATS with JetStream, its streams in `DATA_DIR/nats`. It asks for a user and a password, which is kept in
 * `DATA_DIR/nats.password`, because any message to it can become a click or conversion.
 *
 * @throws {LaunchError} if there is no NATS server 2.10 or newer and none can be downloaded, or it does not start.
 */
export async function startNats(options: NatsOptions): Promise<EmbeddedNats> {
  const { dataDir, port, bind, report, syncsAlways = false } = options;
  prepareChildFolders(dataDir);
  const program = await natsProgram(options);
  const startedAtMs = Date.now();
  const configFile = join(dataDir, "nats", "nats.conf");
  mkdirSync(join(dataDir, "nats"), { recursive: true, mode: 0o700 });
  const password = storedSecret(join(dataDir, "nats.password"));
  const systemPassword = storedSecret(join(dataDir, "nats-system.password"));
  const config = natsConfig({ dataDir, port, bind, password, systemPassword, syncsAlways });
  writeFileSync(configFile, config, { mode: 0o600 });
  // An earlier version created the file readable by all users.
  chmodSync(configFile, 0o600);
  const addedLog = logSince(natsLog(dataDir));
  const child = await startLeashed(
    {
      name: "nats",
      command: program,
      args: ["--config", configFile],
      stopSignal: "SIGTERM",
      deadlineMs: STOP_DEADLINE_MS,
      forceSignal: "SIGKILL",
    },
    options,
  );
  const outcome = await awaitReady({
    child,
    deadlineMs: READY_DEADLINE_MS,
    signal: options.signal,
    isReady: async () => (await natsGreeting(bind, port))?.server_name === serverName(port),
  });
  if (outcome !== "ready") {
    throw new LaunchError(
      `NATS does not start on ${join(dataDir, "nats")}: ${lastLinesOf(addedLog() || child.lastLines().join("\n"), 1)}\n` +
        `More is in ${natsLog(dataDir)}. If its store is damaged, move ${join(dataDir, "nats")} away: clicks that are ` +
        "not stored yet are sent again from the journals.",
    );
  }
  report.note("nats", `ready on ${bind}:${port} after ${formatSeconds(Date.now() - startedAtMs)}`);
  return {
    url: `nats://${USER}:${password}@${bind}:${port}`,
    systemUrl: `nats://${SYSTEM_USER}:${systemPassword}@${bind}:${port}`,
    pid: child.pid,
    exited: child.exited,
    stop: () => child.stop(),
  };
}

/** The greeting of the NATS server at an address; `undefined` if nothing or another program listens there. */
export function natsGreeting(host: string, port: number): Promise<Greeting | undefined> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ host, port });
    const finish = (): void => {
      socket.destroy();
      resolve(parseGreeting(text));
    };
    socket.setTimeout(GREETING_WAIT_MS, finish);
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n") || text.length > GREETING_BYTES_MAX) finish();
    });
    socket.once("error", finish);
    socket.once("close", finish);
  });
}

/** Reads `INFO {…}`; `undefined` for anything else. */
export function parseGreeting(text: string): Greeting | undefined {
  const json = /^INFO (\{.*\})\s*$/m.exec(text)?.[1];
  if (json === undefined) return undefined;
  const parsed = Greeting.safeParse(parseJson(json));
  return parsed.success ? parsed.data : undefined;
}

/**
 * Unless each message is synced, the store is flushed to disk every second, so a power cut may take its last second. The journals of the
 * ingress keep records until they are in ClickHouse, so none is lost. Our own user stays in the global account, where earlier versions
 * made the streams.
 */
function natsConfig({
  dataDir,
  port,
  bind,
  password,
  systemPassword,
  syncsAlways,
}: Pick<EmbeddedServerOptions, "dataDir" | "port" | "bind"> & {
  readonly password: string;
  readonly systemPassword: string;
  readonly syncsAlways: boolean;
}): string {
  return `server_name: ${serverName(port)}
listen: "${bind}:${port}"
authorization {
  users: [ { user: ${USER}, password: ${JSON.stringify(password)} } ]
}
accounts {
  $SYS { users: [ { user: ${SYSTEM_USER}, password: ${JSON.stringify(systemPassword)} } ] }
}
max_payload: 4MB
max_connections: 10000
write_deadline: "10s"
log_file: ${JSON.stringify(natsLog(dataDir))}
logfile_size_limit: ${LOG_FILE_BYTES_MAX}
logfile_max_num: 2
jetstream {
  store_dir: ${JSON.stringify(join(dataDir, "nats"))}
  sync_interval: ${syncsAlways ? "always" : '"1s"'}
}
`;
}

/** Identifies our server, so that another NATS server on the port is not mistaken for it. */
function serverName(port: number): string {
  return `tracker-${port}`;
}

/** NATS writes and rotates its own log. Without it, a write to the closed pipe would kill NATS when the launcher is killed. */
function natsLog(dataDir: string): string {
  return join(dataDir, "logs", "nats-server.log");
}
