import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackCluster } from "../../deploy/backup/tar.ts";
import { backupUrl, startPostgres } from "../../deploy/local/embedded-postgres.ts";
import type { EmbeddedServer } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { postgresPrograms } from "../../deploy/local/postgres-programs.ts";
import { chooseServerAccount, makeAccountFolder } from "../../deploy/local/server-account.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { copyPostgres } from "../../schemas/postgres/base-backup.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { killJob } from "./processes.ts";
import { TcpGate } from "./tcp-gate.ts";
import { until } from "./until.ts";

const BIND = "127.0.0.1";
const WITHIN = { timeoutMs: 60_000 };
/** Small, so that two servers run beside other tests. */
const SMALL = "shared_buffers = 32MB\nmin_wal_size = 80MB\nmax_wal_size = 256MB\n";
const PASSWORDS = ["postgres.password", "postgres-backup.password"];

/** One server with the files of deploy/servers/postgres/. */
export class PostgresMember {
  readonly dataDir: string;
  readonly port: number;
  #running: EmbeddedServer | undefined;

  private constructor(dataDir: string, port: number) {
    this.dataDir = dataDir;
    this.port = port;
  }

  static async open(dataDir: string): Promise<PostgresMember> {
    mkdirSync(dataDir);
    // Postgres runs as another user when the test runs as root.
    chmodSync(dataDir, 0o711);
    return new PostgresMember(dataDir, await pickPort(BIND));
  }

  get url(): string {
    if (this.#running === undefined) throw new Error(`${this.dataDir} does not run`);
    return this.#running.url;
  }

  async startAsPrimary(): Promise<void> {
    await this.#start("primary.conf", "");
  }

  /** Replaces its data with a copy of a running primary, and follows it. */
  async startAsStandbyOf(primary: PostgresMember): Promise<void> {
    const folder = join(this.dataDir, "postgres");
    const account = await chooseServerAccount(folder, [postgresPrograms()]);
    rmSync(folder, { recursive: true, force: true });
    makeAccountFolder(folder, account);
    const copy = join(this.dataDir, "copy.tar");
    rmSync(copy, { force: true });
    const from = backupUrl(primary.dataDir, primary.port);
    await copyPostgres(from, copy, new AbortController().signal);
    writeFileSync(join(folder, "standby.signal"), "");
    await unpackCluster(copy, folder, account);
    for (const name of PASSWORDS)
      copyFileSync(join(primary.dataDir, name), join(this.dataDir, name));
    const { username, password } = new URL(from);
    const conninfo = `host=${BIND} port=${primary.port} user=${username} password=${password}`;
    await this.#start("standby.conf", `primary_conninfo = '${conninfo}'\nprimary_slot_name = ''\n`);
  }

  /** As `pg_ctl promote` does it. */
  async promote(): Promise<void> {
    const folder = join(this.dataDir, "postgres");
    const [pid] = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
    writeFileSync(join(folder, "promote"), "");
    process.kill(Number(pid), "SIGUSR1");
    await this.#untilPromoted();
  }

  async kill(): Promise<void> {
    await killJob(this.dataDir, "postgres");
    await this.stop();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  async #start(file: string, settings: string): Promise<void> {
    const conf = join(this.dataDir, "conf");
    cpSync(projectFile("deploy", "servers", "postgres"), conf, { recursive: true });
    chmodSync(conf, 0o755);
    writeFileSync(join(conf, "test.conf"), `include '${file}'\n${SMALL}${settings}`);
    for (const one of ["one.conf", "primary.conf", "standby.conf", "test.conf"])
      chmodSync(join(conf, one), 0o644);
    this.#running = await startPostgres({
      dataDir: this.dataDir,
      port: this.port,
      runtimeDir: runtimeDir(),
      bind: BIND,
      report: testReport(),
      configFile: join(conf, "test.conf"),
    });
  }

  async #untilPromoted(): Promise<void> {
    const pool = openPool({ url: this.url, applicationName: "test", connectionsMax: 1 });
    const text = "select 1 where not pg_is_in_recovery()";
    try {
      await until(
        "it is promoted",
        async () => (await pool.query({ text })).rowCount === 1,
        WITHIN,
      );
    } finally {
      await pool.end();
    }
  }
}

/** A primary and its synchronous standby behind one address, which stays with the primary, as a failover manager's address does. */
export class PostgresPair {
  readonly url: string;
  readonly #folder: string;
  readonly #gate: TcpGate;
  #primary: PostgresMember;
  #standby: PostgresMember;

  private constructor(parts: {
    folder: string;
    gate: TcpGate;
    primary: PostgresMember;
    standby: PostgresMember;
  }) {
    this.#folder = parts.folder;
    this.#gate = parts.gate;
    this.#primary = parts.primary;
    this.#standby = parts.standby;
    this.url = parts.gate.urlOf(parts.primary.url);
  }

  static async open(): Promise<PostgresPair> {
    const folder = mkdtempSync(join(tmpdir(), "tracker-pair-"));
    chmodSync(folder, 0o711);
    const primary = await PostgresMember.open(join(folder, "a"));
    const standby = await PostgresMember.open(join(folder, "b"));
    await primary.startAsPrimary();
    await standby.startAsStandbyOf(primary);
    const gate = await TcpGate.open(primary.url);
    return new PostgresPair({ folder, gate, primary, standby });
  }

  /** Kills the primary with kill -9 and promotes the standby, which answers at the address from then on. */
  async failOver(): Promise<void> {
    const dead = this.#primary;
    await dead.kill();
    await this.#gate.shut();
    await this.#standby.promote();
    this.#primary = this.#standby;
    this.#standby = dead;
    this.#gate.aim(this.#primary.url);
    await this.#gate.open();
  }

  /** The killed primary comes back as the standby. Until then commits wait. */
  async rebuild(): Promise<void> {
    await this.#standby.startAsStandbyOf(this.#primary);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gate.shut();
    await Promise.all([this.#primary.stop(), this.#standby.stop()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
