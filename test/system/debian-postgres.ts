import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pickPort } from "../../deploy/local/ports.ts";
import { childrenOf, isThere, killNow } from "./processes.ts";
import { until } from "./until.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";
const ACCOUNT = "postgres";
const PASSWORD = "tracker";

/** Why the tests with a Postgres of Debian cannot run here; undefined if they can. */
export function debianPostgresFault(): string | undefined {
  if (!existsSync(join(PROGRAMS, "pg_basebackup"))) return "postgresql-15 is not installed";
  if (process.getuid?.() !== 0) return "only root can start it as the user postgres";
  return undefined;
}

/** Postgres 15 of Debian with an archive of its write-ahead log, which its own tools back up and restore. */
export class DebianPostgres {
  readonly folder: string;
  readonly port: number;
  #running: ReturnType<typeof spawn> | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async open(): Promise<DebianPostgres> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-debian-postgres-"));
    await chmod(folder, 0o755);
    const server = new DebianPostgres(folder, await pickPort("127.0.0.1"));
    await mkdir(join(folder, "wal"));
    run("chown", ["-R", ACCOUNT, folder]);
    server.#asAccount("initdb", ["-D", server.data, "--auth=trust", "--encoding=UTF8"]);
    await appendFile(
      join(server.data, "postgresql.conf"),
      `archive_mode = on\narchive_command = 'test ! -f ${folder}/wal/%f && cp %p ${folder}/wal/%f'\n` +
        `archive_timeout = 5\nunix_socket_directories = '${folder}'\nmax_connections = 200\n`,
    );
    await server.start();
    const sql = `create role tracker login createdb password '${PASSWORD}'`;
    server.#asAccount("psql", ["--dbname", server.adminUrl, "--command", sql]);
    const owned = "create database tracker owner tracker";
    server.#asAccount("psql", ["--dbname", server.adminUrl, "--command", owned]);
    return server;
  }

  get data(): string {
    return join(this.folder, "data");
  }

  get url(): string {
    return `postgres://tracker:${PASSWORD}@127.0.0.1:${this.port}/tracker`;
  }

  get adminUrl(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    const settings = ["-c", `port=${this.port}`, "-c", "listen_addresses=127.0.0.1"];
    const server = [join(PROGRAMS, "postgres"), "-D", this.data, ...settings];
    this.#running = spawn("setpriv", [...ACCOUNT_OPTIONS, ...server], { stdio: "ignore" });
    await until(
      "Postgres answers and is no standby",
      () => this.#ask("select not pg_is_in_recovery()") === "t",
      { timeoutMs: 120_000 },
    );
  }

  /** As `pg_basebackup` of the page does. */
  backUp(): void {
    const target = join(this.folder, "base");
    const options = ["--wal-method=stream", "--checkpoint=fast"];
    this.#asAccount("pg_basebackup", [
      `--dbname=${this.adminUrl}`,
      `--pgdata=${target}`,
      ...options,
    ]);
  }

  /** Makes the newest changes part of the archive. */
  switchLog(): void {
    this.#ask("select pg_switch_wal()");
  }

  async kill(): Promise<void> {
    const child = this.#running;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGQUIT");
    await ended;
  }

  /** Sends kill -9 to the server and all of its processes, and starts it again, as a supervisor does. */
  async crash(): Promise<void> {
    const pid = this.#running?.pid;
    if (pid === undefined) throw new Error("Postgres does not run");
    const all = [pid, ...(await childrenOf(pid))];
    for (const one of all) killNow(one);
    // It refuses to start while a process still has its shared memory.
    await until("its processes are gone", () => !all.some(isThere));
    await this.start();
  }

  /** Replaces the data by the base backup, which replays the archive. */
  async restore(): Promise<void> {
    await rm(this.data, { recursive: true });
    run("cp", ["-a", join(this.folder, "base"), this.data]);
    const recovery = `restore_command = 'cp ${this.folder}/wal/%f %p'\n`;
    await appendFile(join(this.data, "postgresql.conf"), recovery);
    await writeFile(join(this.data, "recovery.signal"), "");
    run("chown", ["-R", ACCOUNT, this.data]);
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  #ask(sql: string): string {
    const { stdout } = spawnSync(
      join(PROGRAMS, "psql"),
      ["--dbname", this.adminUrl, "--tuples-only", "--no-align", "--command", sql],
      { encoding: "utf8" },
    );
    return stdout.trim();
  }

  #asAccount(program: string, args: readonly string[]): void {
    run("setpriv", [...ACCOUNT_OPTIONS, join(PROGRAMS, program), ...args]);
  }
}

const ACCOUNT_OPTIONS = [`--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, "--clear-groups", "--"];

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8", cwd: "/" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
