import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import type { EmbeddedServer } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { runtimeDir, testReport } from "../services/servers.ts";

const BIND = "127.0.0.1";
/** As on a server, every user may log in over HTTP. */
const OPEN_TO_LOGINS = `<clickhouse><http_handlers remove="remove"/></clickhouse>`;

/** The engine of `npm start` with a file of `users.d` beside its own users, as a server of ClickHouse reads it. */
export async function startConfiguredClickhouse(options: {
  /** An empty folder. */
  readonly dataDir: string;
  readonly users: string;
  /** What the file takes from the environment of the server. */
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<EmbeddedServer & { readonly port: number }> {
  const { dataDir, users, environment = {} } = options;
  const at = (folder: string): string => join(dataDir, "clickhouse", folder);
  await mkdir(at("users.d"), { recursive: true });
  await copyFile(users, join(at("users.d"), "tracker.xml"));
  await mkdir(at("config.d"));
  await writeFile(join(at("config.d"), "http.xml"), OPEN_TO_LOGINS);
  const port = await pickPort(BIND);
  const server = await startClickhouse({
    dataDir,
    port,
    bind: BIND,
    environment,
    runtimeDir: runtimeDir(),
    report: testReport(),
  });
  return Object.assign(server, { port });
}
