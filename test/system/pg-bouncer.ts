import { type ChildProcess, spawn } from "node:child_process";
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputIfInstalled } from "../../deploy/local/command-output.ts";
import { unpackDebianPackages } from "../../deploy/local/debian-packages.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { LaunchError } from "../../deploy/local/report.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { until } from "./until.ts";

const OURS = projectFile("deploy", "servers", "postgres", "pgbouncer.ini");
const BIND = "127.0.0.1";
/** The first version that keeps prepared statements in transaction mode. */
const VERSION_MIN = 121;
/** Debian's program and its libraries, for a machine whose own release has an older one. */
const PACKAGES = [
  ...["pgbouncer", "libc6", "libgcc-s1", "libevent-2.1-7t64", "libcares2", "libssl3t64"],
  ...["libsystemd0", "libpam0g", "libaudit1", "libcap-ng0", "libcap2", "libzstd1", "zlib1g"],
  "libldap2",
];
/** PgBouncer refuses to run as root. */
const NOBODY = { name: "nobody", uid: 65_534, gid: 65_534 };

export type PgBouncerOptions = {
  readonly settings?: Readonly<Record<string, string>>;
  readonly database?: string;
};

type Program = readonly [string, ...string[]];
export type FoundProgram = { readonly program: Program } | { readonly fault: string };

/** A PgBouncer that is new enough: this machine's, else a newer Debian's, which is unpacked beside the test servers. */
export async function findPgBouncer(): Promise<FoundProgram> {
  const own = ["pgbouncer"] as const;
  if (await isNewEnough(own)) return { program: own };
  try {
    const folder = await unpackDebianPackages({
      runtimeDir: runtimeDir(),
      name: "pgbouncer",
      packages: PACKAGES,
      report: testReport(),
    });
    const libraries = join(folder, "usr", "lib", "x86_64-linux-gnu");
    const loader = join(libraries, "ld-linux-x86-64.so.2");
    const search = ["--inhibit-cache", "--library-path", libraries];
    const program = [loader, ...search, join(folder, "usr", "sbin", "pgbouncer")] as const;
    if (await isNewEnough(program)) return { program };
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    return { fault: `pgbouncer 1.21 or newer is not installed (${error.message})` };
  }
  return { fault: "pgbouncer 1.21 or newer is not installed" };
}

async function isNewEnough([command, ...args]: Program): Promise<boolean> {
  const output = await outputIfInstalled(command, [...args, "--version"]);
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(output?.stdout ?? "") ?? [];
  return Number(major) * 100 + Number(minor) >= VERSION_MIN;
}

/** PgBouncer with `deploy/servers/postgres/pgbouncer.ini`. The test sets only addresses, names and sizes. */
export class PgBouncer {
  /** The URL of the database that the given URL names. Other databases of the server are reached by their names. */
  readonly url: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #output = "";

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url;
    this.#folder = folder;
    this.#child = child;
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX);
    });
  }

  /** `settings` replace settings of the file; `database` replaces what the file sets for each database. */
  static async open(
    [command, ...args]: Program,
    postgresUrl: string,
    { settings = {}, database }: PgBouncerOptions = {},
  ): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-pgbouncer-"));
    const port = await pickPort(BIND);
    const { username, password, port: postgresPort } = new URL(postgresUrl);
    const users = join(folder, "users.txt");
    const config = join(folder, "pgbouncer.ini");
    await writeFile(users, `"${username}" "${password}"\n`, { mode: 0o600 });
    const own = {
      listen_port: String(port),
      auth_file: users,
      admin_users: username,
      unix_socket_dir: "",
      ...settings,
    };
    const ours = (await readFile(OURS, "utf8")).replace("port=5432", `port=${postgresPort}`);
    // Any database, because each test makes its own.
    const [, server = "", limits = ""] = /^tracker = (.*) dbname=\w+ (.*)$/m.exec(ours) ?? [];
    const any = `* = ${server} ${database ?? limits}`;
    await writeFile(config, withSettings(ours.replace(/^tracker = .*$/m, any), own));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      await chmod(folder, 0o711);
      for (const file of [users, config]) await chown(file, NOBODY.uid, NOBODY.gid);
    }
    const account = isRoot ? ["--user", NOBODY.name] : [];
    const child = spawn(command, [...args, ...account, config], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const url = new URL(postgresUrl);
    url.port = String(port);
    const bouncer = new PgBouncer(url.toString(), folder, child);
    await bouncer.#untilAnswering();
    return bouncer;
  }

  /** Its connections to Postgres, as its console shows them. */
  async connections(): Promise<Record<string, unknown>[]> {
    const url = new URL(this.url);
    url.pathname = "/pgbouncer";
    const console = openPool({ url: url.href, applicationName: "test", connectionsMax: 1 });
    try {
      return (await console.query({ text: "show servers" })).rows;
    } finally {
      await console.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = new Promise((resolve) => this.#child.once("exit", resolve));
      this.#child.kill("SIGKILL");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #untilAnswering(): Promise<void> {
    const pool = openPool({ url: this.url, applicationName: "test", connectionsMax: 1 });
    try {
      await until("PgBouncer answers", async () => {
        if (this.#child.exitCode !== null) throw new Error(this.#output);
        return (await pool.query({ text: "select 1" })).rowCount === 1;
      });
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw new Error(`PgBouncer does not answer: ${this.#output}`, { cause: error });
    } finally {
      await pool.end();
    }
  }
}

const OUTPUT_CHARACTERS_MAX = 8_000;

/** Replaces the lines that set one of these, and adds the others at the end. */
function withSettings(ini: string, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const kept = ini
    .split("\n")
    .filter((line) => !Object.keys(settings).some((name) => line.startsWith(`${name} =`)));
  return [...kept, ...lines, ""].join("\n");
}
