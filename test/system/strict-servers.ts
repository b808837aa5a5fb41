import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { type EmbeddedNats, startNats } from "../../deploy/local/embedded-nats.ts";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import type { EmbeddedServer, EmbeddedServerOptions } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { until } from "./until.ts";

const BIND = "127.0.0.1";
/** Small, so that it runs beside other tests. */
const SMALL = "shared_buffers = 64MB\nmin_wal_size = 80MB\nmax_wal_size = 512MB\n";

type Servers = {
  readonly postgres: EmbeddedServer;
  readonly nats: EmbeddedNats;
  /** Another NATS, which does not sync every message. */
  readonly lazyNats: EmbeddedNats;
  readonly clickhouse: EmbeddedServer;
};

/** Servers that are set up as production demands, with the files of deploy/servers where the server is the real one. */
export class StrictServers {
  readonly dataDir: string;
  readonly servers: Servers;
  readonly #config: string;
  readonly #others: EmbeddedServer[] = [];

  private constructor(dataDir: string, config: string, servers: Servers) {
    this.dataDir = dataDir;
    this.#config = config;
    this.servers = servers;
  }

  static async open(): Promise<StrictServers> {
    const dataDir = mkdtempSync(join(tmpdir(), "tracker-strict-"));
    // Postgres runs as another user when the test runs as root.
    await chmod(dataDir, 0o711);
    const config = join(dataDir, "postgresql.conf");
    await writeConfig(config, "");
    const options = async (folder: string): Promise<EmbeddedServerOptions> =>
      optionsFor(join(dataDir, folder), await pickPort(BIND));
    const [postgres, nats, lazyNats, clickhouse] = await Promise.all([
      startPostgres({ ...(await options("postgres")), configFile: config }),
      startNats({ ...(await options("nats")), syncsAlways: true }),
      startNats(await options("lazy-nats")),
      startClickhouse(await options("clickhouse")),
    ]);
    return new StrictServers(dataDir, config, { postgres, nats, lazyNats, clickhouse });
  }

  /** Settings of processes that use these servers with `DURABILITY=strict` on one host. */
  get env(): Readonly<Record<string, string>> {
    const { postgres, nats, clickhouse } = this.servers;
    return {
      POSTGRES_URL: postgres.url,
      NATS_URL: nats.url,
      NATS_SYS_URL: nats.systemUrl,
      CLICKHOUSE_URL: clickhouse.url,
      DURABILITY: "strict",
      STRICT_SINGLE_SITE: "1",
      STRICT_STANDBYS: "0",
      JOURNAL_SYNC: "always",
      EXIT_WITH_PARENT: "1",
    };
  }

  /** Gives Postgres other settings, `name = value` in lines, until it is called again. */
  async setPostgres(lines: string): Promise<void> {
    await writeConfig(this.#config, lines);
    const pidFile = await readFile(
      join(this.dataDir, "postgres", "postgres", "postmaster.pid"),
      "utf8",
    );
    const last = lines.trim().split("\n").at(-1) ?? "";
    const [name = "fsync", value = "on"] = last === "" ? [] : last.split(" = ");
    process.kill(Number(pidFile.split("\n")[0]), "SIGHUP");
    const pool = openPool({ url: this.servers.postgres.url, applicationName: "test" });
    const text = "select current_setting($1) as setting";
    await until(
      `Postgres has ${name} ${value}`,
      async () => {
        const { rows } = await pool.query<{ setting: string }>({ text, values: [name] });
        return rows[0]?.setting === value.replaceAll("'", "");
      },
      { pollMs: 20 },
    );
    await pool.end();
  }

  /** Starts it again after its `stop`, at the same address. */
  async restartLazyNats(): Promise<void> {
    const { lazyNats } = this.servers;
    const port = Number(new URL(lazyNats.url).port);
    this.#others.push(await startNats(optionsFor(join(this.dataDir, "lazy-nats"), port)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...Object.values(this.servers), ...this.#others].map((server) => server.stop()),
    );
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

function optionsFor(dataDir: string, port: number): EmbeddedServerOptions {
  return { dataDir, port, runtimeDir: runtimeDir(), bind: BIND, report: testReport() };
}

async function writeConfig(file: string, lines: string): Promise<void> {
  const ours = readFileSync(projectFile("deploy", "servers", "postgres", "one.conf"), "utf8");
  await writeFile(file, `${ours}\n${SMALL}${lines}\n`);
  await chmod(file, 0o644);
}
