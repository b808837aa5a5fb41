import { spawn } from "node:child_process";
import { join } from "node:path";
import { natsGreeting } from "../../deploy/local/embedded-nats.ts";
import { natsProgram } from "../../deploy/local/nats-program.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";

export type ConfiguredNats = { readonly port: number; stop(): Promise<void> };

/** A NATS server with deploy/servers/nats/one.conf: the users of the roles, and each message on the disk before it is acknowledged. */
export async function startConfiguredNats(options: {
  /** What starts `nats-server`, which is on its PATH, on that configuration. */
  readonly command: (configuration: string) => readonly string[];
  /** An empty folder. */
  readonly store: string;
  /** The passwords, or where the command finds them. */
  readonly environment: Readonly<Record<string, string>>;
}): Promise<ConfiguredNats> {
  const program = await natsProgram({ runtimeDir: runtimeDir(), report: testReport() });
  const [port, monitor] = [await freePort(), await freePort()];
  const [command = "", ...args] = options.command(
    projectFile("deploy", "servers", "nats", "one.conf"),
  );
  const child = spawn(command, args, {
    env: {
      ...options.environment,
      PATH: `${join(program, "..")}:${process.env["PATH"] ?? ""}`,
      NATS_LISTEN: `127.0.0.1:${port}`,
      NATS_MONITOR: `127.0.0.1:${monitor}`,
      NATS_STORE: options.store,
      NATS_STORE_BYTES: String(4 * 1024 ** 3),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await until("NATS answers", async () => {
    if (child.exitCode !== null) throw new Error(log);
    return await natsGreeting("127.0.0.1", port);
  });
  return {
    port,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
