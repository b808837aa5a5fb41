import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import { z } from "zod";
import { projectFile, projectRoot } from "../../../schemas/host/project-root.ts";
import { type ConfiguredNats, startConfiguredNats } from "../../deploy/configured-nats.ts";
import { freePorts } from "../../deploy/free-ports.ts";
import { processOf } from "../../deploy/unit-file.ts";
import { SECRETS_KEY } from "../../samples/secret-keys.ts";
import { type FreshDatabase, freshDatabase } from "../../services/fresh-database.ts";
import { type RunningServers, runtimeDir, startServers } from "../../services/servers.ts";
import { ChildServer } from "../../system/child-server.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const UNITS = readdirSync(projectFile("deploy", "systemd")).filter((file) =>
  /[.](service|target)$/.test(file),
);
const SERVER_UNITS = readdirSync(projectFile("deploy", "systemd", "servers"))
  .filter((file) => file.endsWith(".service"))
  .map((file) => join("servers", file));
const SERVICES = UNITS.filter((file) => file.endsWith(".service"));
const SYSCTL = projectFile("deploy", "systemd", "sysctl.d", "90-tracker.conf");
const Lanes = z.object({ lanes: z.string() });
/** Out of 100, as `systemd-analyze security` counts; 100 is no sandbox at all. */
const EXPOSURE_MAX = 20;

/** Skips the test, and says why, where systemd is not installed. */
function analyze(
  context: TestContext,
  ...args: string[]
): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync("systemd-analyze", args, {
    encoding: "utf8",
  });
  if (error !== undefined && "code" in error && error.code === "ENOENT")
    context.skip("systemd-analyze is missing (Debian package systemd)");
  return { status, output: `${stdout}${stderr}` };
}

test.for([...UNITS, ...SERVER_UNITS])("systemd finds no fault in %s (23)", (unit, context) => {
  const { status, output } = analyze(context, "verify", projectFile("deploy", "systemd", unit));
  expect(output).toBe("");
  expect(status).toBe(0);
});

test.for([...SERVICES, ...SERVER_UNITS])(
  "the sandbox of %s keeps its exposure low (23)",
  (unit, context) => {
    const { status, output } = analyze(
      context,
      "security",
      "--offline=yes",
      `--threshold=${EXPOSURE_MAX}`,
      projectFile("deploy", "systemd", unit),
    );
    expect(output).toContain("Overall exposure level");
    expect(status, output).toBe(0);
  },
);

test("every kernel setting exists on Linux, and our ports are reserved (23)", () => {
  const settings = readFileSync(SYSCTL, "utf8")
    .split("\n")
    .filter((line) => /^\w/.test(line))
    .map((line) => line.split(" = "));
  expect(settings.length).toBeGreaterThan(5);
  const unknown = settings.filter(
    ([name = ""]) => !existsSync(join("/proc/sys", name.replaceAll(".", "/"))),
  );
  expect(unknown).toEqual([]);
  const reserved = new Map(settings.map(([name, value]) => [name, value]));
  for (const port of ["4222", "5432", "8123"])
    expect(reserved.get("net.ipv4.ip_local_reserved_ports")?.split(",")).toContain(port);
});

let servers: RunningServers<"postgres" | "clickhouse">;
let database: FreshDatabase;
let nats: ConfiguredNats;
let host: string;
const running: ChildServer[] = [];

beforeAll(async () => {
  host = await mkdtemp(join(tmpdir(), "tracker-systemd-"));
  servers = await startServers({ need: ["postgres", "clickhouse"] });
  database = await freshDatabase({ label: "systemd", servers: servers.urls });
  const passwords = Object.fromEntries(
    ["ingress", "processors", "api", "operator", "sys"].map((user) => [user, `p${user}`]),
  );
  await mkdir(join(host, "nats"));
  nats = await startConfiguredNats({
    command: (configuration) => ["nats-server", "--config", configuration],
    store: join(host, "nats"),
    environment: Object.fromEntries(
      Object.entries(passwords).map(([user, password]) => [
        `NATS_${user.toUpperCase()}_PASSWORD`,
        password,
      ]),
    ),
  });
  await mkdir(join(host, "secrets"));
  const secrets = {
    "postgres-url": database.postgresUrl,
    "nats-url": `nats://127.0.0.1:${nats.port}`,
    "nats-sys-url": `nats://sys:${passwords["sys"] ?? ""}@127.0.0.1:${nats.port}`,
    ...Object.fromEntries(
      Object.entries(passwords).map(([user, password]) => [`nats-${user}-password`, password]),
    ),
    // The engine of the tests has one login.
    "clickhouse-migrate-url": database.clickhouseUrl,
    "clickhouse-writer-url": database.clickhouseUrl,
    "clickhouse-reader-url": database.clickhouseUrl,
    "console-secret": "a text of more than 32 characters, as it must be",
    "secrets-key": SECRETS_KEY,
  };
  for (const [name, text] of Object.entries(secrets))
    await writeFile(join(host, "secrets", name), `${text}\n`);
});
afterAll(async () => {
  await Promise.all(running.map(async (process) => await process.end("SIGTERM")));
  await nats.stop();
  await database.drop();
  await servers.stop();
  await rm(host, { recursive: true, force: true });
});

/** Starts what systemd would start. `differs`: what a test must choose because several hosts share this machine. */
function start(
  unit: string,
  instance: string,
  differs: Readonly<Record<string, string>>,
): ChildServer {
  const folder = join(host, "credentials", `${unit}-${instance}`);
  const { command, env, credentials } = processOf(unit, {
    instance,
    states: join(host, "states"),
    credentials: folder,
    settings: projectFile("deploy", "systemd", "env"),
  });
  mkdirSync(folder, { recursive: true });
  for (const { name, source } of credentials)
    copyFileSync(join(host, "secrets", basename(source)), join(folder, name));
  expect(env["DURABILITY"]).toBe("strict");
  const process = ChildServer.spawn(command, {
    ...env,
    // One host, so there is one copy of everything.
    STRICT_SINGLE_SITE: "1",
    STRICT_STANDBYS: "0",
    CLICKS_STREAM_BYTES: String(1024 ** 3),
    RUNTIME_DIR: runtimeDir(),
    ...differs,
  });
  running.push(process);
  return process;
}

async function expectReady(process: ChildServer, port: number): Promise<void> {
  await until(
    `it is ready: ${process.output}`,
    async () => {
      if (!process.isRunning) throw new Error(process.output);
      return (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200;
    },
    { timeoutMs: 60_000 },
  );
}

test("tracker-migrate ends well, and the processes of its start lines serve and end by SIGTERM (23)", async () => {
  const migrate = start("tracker-migrate.service", "", {});
  expect(await migrate.ended, migrate.output).toBe(0);

  const [trackingPort, apiPort] = [await freePort(), await freePort()];
  const opsPorts = await freePorts(8);
  const ports = { TRACKING_PORT: String(trackingPort), OPS_PORT: String(opsPorts) };
  const ingress = start("tracker-ingress.service", "", ports);
  const clicks = start("tracker-processors@.service", "clicks", { OPS_PORT: String(opsPorts + 5) });
  const rest = start("tracker-processors@.service", "rest", { OPS_PORT: String(opsPorts + 6) });
  const api = start("tracker-api@.service", String(apiPort), { OPS_PORT: String(opsPorts + 7) });
  // The example file asks for four workers.
  for (let worker = 0; worker < 4; worker += 1) await expectReady(ingress, opsPorts + worker);
  await expectReady(clicks, opsPorts + 5);
  await expectReady(rest, opsPorts + 6);
  await expectReady(api, opsPorts + 7);
  const lanes = async (process: number): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${process}/status`);
    return Lanes.parse(await answer.json()).lanes;
  };
  expect(await lanes(opsPorts + 5)).toBe("clicks");
  expect(await lanes(opsPorts + 6)).toBe("conversions,facts,delivery,schedule");
  expect((await fetch(`http://127.0.0.1:${trackingPort}/health`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${apiPort}/health`)).status).toBe(200);

  const codes = await Promise.all(
    [ingress, api, clicks, rest].map(async (process) => await process.end("SIGTERM")),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(api.output).not.toContain("console.no-second-factors");
});

/** `tracker-run` on a host whose systemd is two scripts: the unit is installed, and what its options name is handed over. */
async function trackerRun(...args: string[]): Promise<{ code: number | null; output: string }> {
  const programs = join(host, "programs");
  await mkdir(programs, { recursive: true });
  const place = (text: string): string =>
    text
      .replaceAll("/opt/tracker", projectRoot)
      .replaceAll("/etc/tracker/secrets", join(host, "secrets"))
      .replaceAll("/etc/tracker", projectFile("deploy", "systemd", "env"));
  const unit = place(
    readFileSync(projectFile("deploy", "systemd", "tracker-migrate.service"), "utf8"),
  );
  const files = {
    "unit.service": unit,
    systemctl: `#!/bin/sh\ncat ${programs}/unit.service\n`,
    "systemd-run": SYSTEMD_RUN,
    id: "#!/bin/sh\necho 0\n",
    "tracker-run": place(readFileSync(projectFile("deploy", "systemd", "tracker-run"), "utf8")),
  };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(programs, name), text, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync(join(programs, "tracker-run"), args, {
    encoding: "utf8",
    env: { PATH: `${programs}:${process.env["PATH"] ?? ""}` },
  });
  return { code: status, output: `${stdout}${stderr}` };
}

/** Takes settings and credentials from the options as systemd does. */
const SYSTEMD_RUN = `#!/bin/sh
set -e
export CREDENTIALS_DIRECTORY=$(mktemp -d)
trap 'rm -r "$CREDENTIALS_DIRECTORY"' EXIT
while :; do
  case $1 in
    --property=EnvironmentFile=*)
      file=\${1#--property=EnvironmentFile=}
      set -a
      [ ! -e "\${file#-}" ] || . "\${file#-}"
      set +a ;;
    --property=LoadCredential=*)
      credential=\${1#--property=LoadCredential=}
      cp "\${credential#*:}" "$CREDENTIALS_DIRECTORY/\${credential%%:*}" ;;
    --*) ;;
    *) break ;;
  esac
  shift
done
for word in "$@"; do
  set -- "$@" "$(printf %s "$word" | sed 's/\\$\\$/$/g')"
  shift
done
"$@"
`;

test("tracker-run gives a command the settings and secrets of tracker-migrate, and its code (23)", async () => {
  const create = ["workspace", "create", "--name", "Of $the unit", "--slug", "unit"];
  let made = await trackerRun(...create);
  // The processors of the test before may still compare the new Postgres with ClickHouse.
  await until("Postgres gives ids", async () => {
    if (made.output.includes("gives no ids")) made = await trackerRun(...create);
    return !made.output.includes("gives no ids");
  });
  expect(made.code, made.output).toBe(0);
  const listed = await trackerRun("workspace", "list");
  expect(listed.code, listed.output).toBe(0);
  expect(listed.output).toContain("Of $the unit");
  expect(await trackerRun("ingres")).toMatchObject({ code: 2 });
  // A setting before the command wins over the unit's.
  const wrong = await trackerRun("POSTGRES_URL_FILE=/nowhere/a b", "workspace", "list");
  expect(wrong.code).toBe(2);
  expect(wrong.output).toContain("/nowhere/a b");
  const without = await trackerRun("DATA_DIR=/nowhere");
  expect(without.code).toBe(2);
  expect(without.output).toContain("usage: tracker-run");
});

test("codes 2 and 3 are final, and after 4 a unit waits half a minute before it starts again (23)", () => {
  const roles = SERVICES.filter((file) => !file.includes("migrate"));
  expect(roles).toHaveLength(3);
  for (const file of roles) {
    const unit = readFileSync(projectFile("deploy", "systemd", file), "utf8");
    expect(unit).toMatch(/^RestartPreventExitStatus=2 3$/m);
    const [, line = ""] = /^ExecStopPost=\/bin\/sh -c '(.+)'$/m.exec(unit) ?? [];
    const waits = (code: string): string => {
      // The `sleep` of the shell's own says what it would do.
      const script = `sleep() { echo "sleeps $1"; }; ${line.replaceAll("$$", "$")}`;
      const env = { PATH: process.env["PATH"], EXIT_STATUS: code };
      const { stdout, status } = spawnSync("sh", ["-c", script], { encoding: "utf8", env });
      expect(status).toBe(0);
      return stdout.trim();
    };
    expect(["0", "1", "2", "4", "KILL"].map(waits)).toEqual(["", "", "", "sleeps 30", ""]);
  }
});

test("reload restarts the workers by the signal that the unit sends (23)", () => {
  const unit = readFileSync(projectFile("deploy", "systemd", "tracker-ingress.service"), "utf8");
  expect(unit).toContain("ExecReload=/bin/kill -HUP $MAINPID");
  expect(unit).toContain("KillMode=mixed");
  expect(unit).toContain("TimeoutStopSec=60");
});
