import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeNatsVersions } from "../../../schemas/checks/judge-nats.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { SETTINGS } from "../../../schemas/host/setting-definitions.ts";
import {
  COMPOSE,
  type ComposeService,
  readComposeFile,
} from "../../deploy/compose/compose-file.ts";
import { startConfiguredClickhouse } from "../../deploy/configured-clickhouse.ts";
import { type ConfiguredNats, startConfiguredNats } from "../../deploy/configured-nats.ts";
import { firstClick, type TrackerProcess } from "../../deploy/first-click.ts";
import { trackerProcesses } from "../../deploy/tracker-processes.ts";
import { createPostgresDatabase, dropPostgresDatabase } from "../../services/fresh-database.ts";
import { runtimeDir, startServers } from "../../services/servers.ts";

const file = readComposeFile();
const services = Object.entries(file.services);
const DATABASE = "test_compose";
const TRACKER = ["migrate", "ingress", "processors", "api"] as const;

/** What .env has for mail.yaml and sign-on.yaml. */
const FOR_OTHER_FILES = [
  "MAIL_FROM=Tracker <tracker@example.com>",
  "OIDC_ISSUER=https://accounts.example.com",
  "OIDC_CLIENT_ID=tracker",
];

let folder: string;
let secrets: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-compose-"));
  secrets = join(folder, "secrets");
  makeSecrets();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeSecrets(): void {
  const made = spawnSync("sh", [join(COMPOSE, "make-secrets.sh"), secrets], { encoding: "utf8" });
  expect(made.stderr).toBe("");
  expect(made.status).toBe(0);
}

function has(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

describe.each([
  "compose.yaml",
  "compose.yaml ha.yaml",
  "compose.yaml mail.yaml sign-on.yaml tracing.yaml",
])("%s", (names) => {
  const files = names.split(" ").map((name) => join(COMPOSE, name));
  let env = "";
  beforeAll(() => {
    env = join(folder, "all.env");
    const example = readFileSync(join(COMPOSE, ".env.example"), "utf8");
    writeFileSync(env, `${example}\n${FOR_OTHER_FILES.join("\n")}\n`);
  });

  test.skipIf(!has("go"))(
    "is valid for compose-go, the loader of `docker compose` (skipped without go)",
    () => {
      const module = projectFile("deploy", "checks", "compose-schema");
      const loaded = spawnSync("go", ["run", ".", env, ...files], {
        cwd: module,
        encoding: "utf8",
      });
      // On a new machine Go downloads the loader first, and says so.
      expect(loaded.stderr.replaceAll(/^go: downloading .*\n/gm, "")).toBe("");
      expect(loaded.status).toBe(0);
    },
  );

  test.skipIf(!has("docker-compose"))(
    "is valid for Debian's docker-compose (skipped without docker-compose)",
    () => {
      const checked = spawnSync(
        "docker-compose",
        ["--env-file", env, ...files.flatMap((one) => ["--file", one]), "config", "--quiet"],
        { encoding: "utf8" },
      );
      expect(checked.stderr).toBe("");
      expect(checked.status).toBe(0);
    },
  );
});

describe("compose.yaml", () => {
  test("every file, volume, network and secret that a service names exists", () => {
    for (const [name, service] of services) {
      for (const volume of service.volumes) {
        const source = volume.split(":")[0] ?? "";
        const isThere = source.startsWith(".")
          ? existsSync(normalize(join(COMPOSE, source)))
          : source in file.volumes;
        expect(isThere, `${name}: ${volume}`).toBe(true);
      }
      expect(Object.keys(file.networks)).toEqual(expect.arrayContaining(service.networks));
      const named = service.secrets.map((one) => (typeof one === "string" ? one : one.source));
      expect(Object.keys(file.secrets)).toEqual(expect.arrayContaining(named));
    }
  });

  test("every secret is made, is random, and is readable only through its folder", () => {
    for (const { file: path } of Object.values(file.secrets)) {
      expect(existsSync(join(secrets, path.replace("./secrets/", ""))), path).toBe(true);
    }
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    const passwords = readdirSync(secrets).filter((name) => name.endsWith("_password"));
    const values = passwords.map((name) => readFileSync(join(secrets, name), "utf8"));
    expect(new Set(values).size).toBe(passwords.length);
    for (const value of values) expect(value).toMatch(/^p[0-9a-f]{48}$/);
  });

  test("the logins of ClickHouse are those of users.xml, each with the password of its URL", () => {
    const users = projectFile("deploy", "servers", "clickhouse", "users.xml");
    let expected = readFileSync(users, "utf8");
    for (const login of ["migrate", "writer", "reader"]) {
      const url = new URL(readFileSync(join(secrets, `clickhouse_${login}_url`), "utf8"));
      expect(url.username).toBe(`tracker_${login}`);
      const hash = createHash("sha256").update(url.password).digest("hex");
      expected = expected.replace(
        `<password_sha256_hex from_env="TRACKER_${login.toUpperCase()}_SHA256"/>`,
        `<password_sha256_hex>${hash}</password_sha256_hex>`,
      );
    }
    expect(expected).not.toContain("from_env");
    expect(readFileSync(join(secrets, "clickhouse_logins.xml"), "utf8")).toBe(expected);
  });

  test("only migrate has a login with all rights, and ingress has none at ClickHouse", () => {
    const secretsOf = (name: string): string[] =>
      serviceOf(name).secrets.map((one) => (typeof one === "string" ? one : one.source));
    const strong = ["clickhouse_migrate_url", "nats_operator_password"];
    expect(secretsOf("migrate")).toEqual(expect.arrayContaining(strong));
    for (const name of ["ingress", "processors", "api"]) {
      for (const secret of strong) expect(secretsOf(name), name).not.toContain(secret);
      expect(serviceOf(name).environment["NATS_USER"]).toBe(name);
    }
    expect(secretsOf("ingress").join(" ")).not.toContain("clickhouse");
    expect(serviceOf("api").environment).toMatchObject({
      CLICKHOUSE_READER_URL_FILE: "/run/secrets/clickhouse_reader_url",
      CONSOLE_SECRET_FILE: "/run/secrets/console_secret",
      SECRETS_KEY_FILE: "/run/secrets/secrets_key",
    });
  });

  test("every process refuses servers that could lose what was answered (P35)", () => {
    for (const name of TRACKER)
      expect(serviceOf(name).environment["DURABILITY"], name).toBe("strict");
  });

  test("NATS has a release with which a cluster keeps its leader, also where .env names none", () => {
    const texts = [".env.example", "compose.yaml"].map((name) =>
      readFileSync(join(COMPOSE, name), "utf8"),
    );
    for (const text of texts) {
      const [, tag = ""] = /nats:(\d+[.]\d+[.]\d+)-alpine/.exec(text) ?? [];
      const server = { id: "N1", name: "nats", version: tag };
      expect(judgeNatsVersions([server], 3).faults).toEqual([]);
    }
    expect(readFileSync(join(COMPOSE, "ha.yaml"), "utf8")).not.toContain("image:");
  });

  test("a second run of make-secrets.sh changes nothing", () => {
    const contents = (): string[] =>
      readdirSync(secrets).map((name) => readFileSync(join(secrets, name), "utf8"));
    const before = contents();
    makeSecrets();
    expect(contents()).toEqual(before);
  });

  test("each service has a read-only root, no capability that it does not need, and 60 s to end", () => {
    const added = services.flatMap(([name, { cap_add: names }]) => names.map((one) => [name, one]));
    expect(added).toEqual([["caddy", "NET_BIND_SERVICE"]]);
    for (const [name, service] of services) {
      expect(service, name).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        stop_grace_period: "60s",
      });
    }
  });

  test("only Caddy is published, and Prometheus to this host", () => {
    const published = services.filter(([, { ports }]) => ports.length > 0);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([
      ["caddy", ["80:80", "443:443", "443:443/udp"]],
      ["prometheus", ["127.0.0.1:9090:9090"]],
    ]);
    expect(file.networks).toMatchObject({ servers: { internal: true } });
  });

  test("Caddy reaches the service by the network of TRUSTED_PROXIES alone, so visitors keep their address", () => {
    const shared = TRACKER.map((name) =>
      serviceOf(name).networks.filter((one) => serviceOf("caddy").networks.includes(one)),
    );
    expect(shared).toEqual([[], ["edge"], [], ["edge"]]);
    for (const name of TRACKER)
      expect(serviceOf(name).environment["TRUSTED_PROXIES"]).toContain("172.30.80.0/24");
    expect(JSON.stringify(file.networks["edge"])).toContain("172.30.80.0/24");
  });

  test("each setting of the tracker exists, and no value is a secret", () => {
    for (const name of TRACKER) {
      const names = Object.keys(serviceOf(name).environment);
      for (const variable of names) expect(settingOf(variable), variable).toBeDefined();
      expect(names.filter((one) => /PASSWORD$|CLICKHOUSE_URL$|SYS_URL$/.test(one))).toEqual([]);
    }
  });

  test("each process runs with its own command and settings, from empty servers to a reported click", async () => {
    const nats = await startComposeNats();
    const clickhouse = await startConfiguredClickhouse({
      dataDir: dataFolder("clickhouse"),
      users: join(secrets, "clickhouse_logins.xml"),
    });
    const servers = await startServers({ need: ["postgres"] });
    try {
      await createPostgresDatabase(servers.urls.postgres, DATABASE);
      const postgres = new URL(servers.urls.postgres);
      postgres.pathname = DATABASE;
      writeSecret("postgres_password", postgres.password);
      postgres.password = "";
      moveSecret("nats_sys_url", "nats:4222", `127.0.0.1:${nats.port}`);
      for (const login of ["migrate", "writer", "reader"])
        moveSecret(`clickhouse_${login}_url`, "clickhouse:8123", `127.0.0.1:${clickhouse.port}`);
      const here = await trackerProcesses({
        database: { name: DATABASE, postgresUrl: postgres.toString(), clickhouseUrl: "" },
        natsUrl: "",
      });
      const asComposed = (process: TrackerProcess): TrackerProcess =>
        composed(process, { postgresUrl: postgres.toString(), natsPort: nats.port });
      const result = await firstClick({
        migrate: asComposed(here.migrate),
        ingress: asComposed(here.ingress),
        processors: asComposed(here.processors),
        api: asComposed(here.api),
        start: ({ name, args, env }) =>
          spawn(process.execPath, [projectFile(".build", "deploy", "tracker.js"), ...args], {
            env: { ...env, PATH: process.env["PATH"], DATA_DIR: dataFolder(name) },
            stdio: ["ignore", "pipe", "pipe"],
          }),
      });
      expect(result.exitCodes).toEqual({ ingress: 0, processors: 0, api: 0 });
      expect(result.output["api"]).not.toContain("console.no-second-factors");
      await dropPostgresDatabase(servers.urls.postgres, DATABASE);
    } finally {
      await Promise.all([nats.stop(), clickhouse.stop(), servers.stop()]);
    }
  });
});

function serviceOf(name: string): ComposeService {
  const service = file.services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return service;
}

/** The definition of a variable, also in its form with `_FILE`. */
function settingOf(variable: string): unknown {
  return new Map<string, unknown>(Object.entries(SETTINGS)).get(
    variable in SETTINGS ? variable : variable.replace(/_FILE$/, ""),
  );
}

/** The command and settings of compose.yaml, with addresses, ports and the folder of the secrets of this machine. */
function composed(
  { name, env, opsPorts = [] }: TrackerProcess,
  at: { readonly postgresUrl: string; readonly natsPort: number },
): TrackerProcess {
  const { command, environment } = serviceOf(name);
  const settings = Object.entries(environment).map(([variable, value]): [string, string] => [
    variable,
    value.replace("/run/secrets", secrets),
  ]);
  const port = name === "api" ? env["API_PORT"] : env["TRACKING_PORT"];
  return {
    name,
    args: command,
    opsPorts,
    env: {
      ...Object.fromEntries(settings),
      POSTGRES_URL: at.postgresUrl,
      NATS_URL: `nats://127.0.0.1:${at.natsPort}`,
      // Caddy would be there.
      TRACKING_URL: `http://127.0.0.1:${env["TRACKING_PORT"] ?? ""}`,
      API_URL: `http://127.0.0.1:${env["API_PORT"] ?? ""}`,
      TRACKING_PORT: env["TRACKING_PORT"] ?? "",
      API_PORT: env["API_PORT"] ?? "",
      BIND_ADDRESS: "127.0.0.1",
      OPS_BIND: "127.0.0.1",
      OPS_PORT: env["OPS_PORT"] ?? port ?? "",
      // Other tests have parents of workers, too.
      WORKERS_OPS_PORT: "0",
      DRAIN_SECONDS: "0",
      RUNTIME_DIR: runtimeDir(),
      CLICKS_STREAM_BYTES: String(1024 ** 3),
    },
  };
}

/** The NATS service of compose.yaml: its script, configuration and passwords. */
async function startComposeNats(): Promise<ConfiguredNats> {
  const { entrypoint, command, environment } = serviceOf("nats");
  expect([entrypoint, command]).toEqual([
    ["sh", "/etc/tracker/start.sh"],
    ["/etc/tracker/nats/one.conf"],
  ]);
  return await startConfiguredNats({
    command: (configuration) => ["sh", join(COMPOSE, "nats-start.sh"), configuration],
    store: dataFolder("nats"),
    environment: { ...environment, NATS_PASSWORDS: join(secrets, "nats_passwords") },
  });
}

function dataFolder(name: string): string {
  const data = join(folder, "data", name);
  mkdirSync(data, { recursive: true });
  return data;
}

/** The same secret for a server at another address. */
function moveSecret(name: string, from: string, to: string): void {
  const text = readFileSync(join(secrets, name), "utf8");
  expect(text).toContain(from);
  writeSecret(name, text.replace(from, to));
}

function writeSecret(name: string, value: string): void {
  const path = join(secrets, name);
  chmodSync(path, 0o600);
  writeFileSync(path, value);
}
