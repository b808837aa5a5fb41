import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { natsProgram } from "../../deploy/local/nats-program.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { connectNats } from "../../schemas/nats/connect.ts";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { ChildServer } from "../system/child-server.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { processOf } from "./unit-file.ts";

const PAGE = projectFile("deploy", "pages", "bare-metal-servers.md");
const THIS_TEST =
  "the folders and passwords of the page are what the units and the servers read (23)";
const UNIT = projectFile("deploy", "systemd", "servers", "nats-server.service");
const Varz = z.object({
  server_name: z.string(),
  jetstream: z.object({ config: z.object({ sync_always: z.boolean(), store_dir: z.string() }) }),
});
const GROUP_AND_OTHERS = 0o077;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tracker-server-units-"));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

/** The commands of the page that this test runs, in their order. */
function commands(): string[] {
  const mark = `<!-- run by test/deploy/server-units.test.ts: ${THIS_TEST} -->`;
  return readFileSync(PAGE, "utf8")
    .split(mark)
    .slice(1)
    .map((text) => /^\n```sh\n([\s\S]*?)```/.exec(text)?.[1] ?? "");
}

test("the folders and passwords of the page are what the units and the servers read (23)", async () => {
  const all = commands();
  expect(all.length).toBe(3);
  for (const text of all) {
    // The folders of the system, in a folder of the test.
    const script = text.replaceAll("/etc/", `${root}/etc/`);
    const options = { cwd: projectFile(), encoding: "utf8" } as const;
    const { status, stderr } = spawnSync("sh", ["-euc", script], options);
    expect(status, stderr).toBe(0);
  }
  const settings = join(root, "etc", "tracker");
  for (const file of [
    "servers/nats.env",
    "servers/clickhouse.env",
    "secrets/nats-url",
    "secrets/nats-sys-url",
    "secrets/nats-operator-password",
    "secrets/nats-ingress-password",
    "secrets/nats-processors-password",
    "secrets/nats-api-password",
  ])
    expect(statSync(join(settings, file)).mode & GROUP_AND_OTHERS, file).toBe(0);
  expectLogins(settings);
  await expectNats(settings);
});

/** The hashes that the server takes belong to the passwords of the URLs. */
function expectLogins(settings: string): void {
  const environment = readFileSync(join(settings, "servers", "clickhouse.env"), "utf8");
  const users = readFileSync(
    join(root, "etc", "clickhouse-server", "users.d", "tracker.xml"),
    "utf8",
  );
  const wanted = [...users.matchAll(/from_env="(\w+)"/g)].map(([, name = ""]) => name);
  expect(wanted).toHaveLength(3);
  for (const name of wanted) {
    const login = (/^TRACKER_(\w+)_SHA256$/.exec(name)?.[1] ?? "").toLowerCase();
    const url = readFileSync(join(settings, "secrets", `clickhouse-${login}-url`), "utf8").trim();
    const { username, password, pathname } = new URL(url);
    expect([username, pathname]).toEqual([`tracker_${login}`, "/tracker"]);
    const hash = createHash("sha256").update(password).digest("hex");
    expect(environment).toContain(`${name}=${hash}\n`);
  }
  const config = join(root, "etc", "clickhouse-server", "config.d");
  for (const file of ["tracker.xml", "tracker-listen.xml"])
    expect(existsSync(join(config, file)), file).toBe(true);
}

/** The unit's own line starts the server, which takes the login of the page and syncs each message. */
async function expectNats(settings: string): Promise<void> {
  const file = join(settings, "servers", "nats.env");
  const [port, monitor] = [await freePort(), await freePort()];
  const given = readFileSync(file, "utf8");
  expect(given).toContain("NATS_LISTEN=127.0.0.1:4222\n");
  // Other servers of this machine may have the ports of the page.
  await writeFile(file, given.replace(":4222", `:${port}`).replace(":8222", `:${monitor}`));
  const states = join(root, "var", "lib");
  await mkdir(join(states, "nats"), { recursive: true });
  const unit = processOf(join("servers", "nats-server.service"), {
    states,
    settings,
    credentials: "",
  });
  const program = await natsProgram({ runtimeDir: runtimeDir(), report: testReport() });
  const server = ChildServer.spawn(unit.command, {
    ...unit.env,
    PATH: `${dirname(program)}:${process.env["PATH"] ?? ""}`,
  });
  try {
    const secret = (name: string): string =>
      readFileSync(join(settings, "secrets", name), "utf8").trim();
    const url = secret("nats-url").replace(":4222", `:${port}`);
    const connect = async (user: string) => {
      const access = { user, password: () => secret(`nats-${user}-password`) };
      return await connectNats({ url, access, name: "test", prefix: "" });
    };
    const nats = await until("the login of the page is taken", async () => {
      if (!server.isRunning) throw new Error(server.output);
      return await connect("operator");
    });
    for (const user of ["ingress", "processors", "api"])
      await (await connect(user)).connection.close();
    expect(new URL(secret("nats-sys-url")).username).toBe("sys");
    await ensureStreams(nats);
    const state = await fetch(`http://127.0.0.1:${monitor}/varz`);
    const { server_name, jetstream } = Varz.parse(await state.json());
    expect([server_name, jetstream.config.sync_always]).toEqual(["tracker-1", true]);
    expect(jetstream.config.store_dir).toContain(states);
    await nats.connection.close();
    const [, signal = ""] = /^KillSignal=(\w+)$/m.exec(readFileSync(UNIT, "utf8")) ?? [];
    expect(signal).toBe("SIGINT");
    expect(await server.end("SIGINT")).toBe(0);
  } finally {
    await server.end("SIGKILL");
  }
}
