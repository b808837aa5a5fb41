import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Demo } from "../../deploy/local/demo-file.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { type RunningServers, startServers } from "../services/servers.ts";
import { ChildServer } from "../system/child-server.ts";
import { ServiceClient } from "../system/service.ts";
import { ingressProgram, nodeProgram } from "../system/service-program.ts";
import { freePort } from "../system/start-system.ts";
import { storedClicks } from "../system/stored-clicks.ts";
import { until } from "../system/until.ts";
import { NatsNode, type NatsUser } from "./nats-node.ts";

const Listed = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
const WAIT = { timeoutMs: 30_000 };
const BROWSER = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0" };

let servers: RunningServers<"postgres" | "clickhouse">;
let node: NatsNode;
let folder = "";
let ports = { tracking: 0, api: 0 };

beforeAll(async () => {
  servers = await startServers({ need: ["postgres", "clickhouse"] });
  node = await NatsNode.open();
  await node.start();
  folder = await mkdtemp(join(tmpdir(), "tracker-nats-users-"));
  ports = { tracking: await freePort(), api: await freePort() };
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await servers.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Settings of a process that logs in to NATS at `natsUrl`. */
function settingsAt(natsUrl: string): Record<string, string> {
  return {
    POSTGRES_URL: servers.urls.postgres,
    CLICKHOUSE_URL: servers.urls.clickhouse,
    NATS_URL: natsUrl,
    DATA_DIR: folder,
    TRACKING_PORT: String(ports.tracking),
    API_PORT: String(ports.api),
    OPS_PORT: "0",
  };
}

function settingsOf(user: NatsUser): Record<string, string> {
  return settingsAt(node.urlOf(user));
}

async function tracker(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const lines: string[] = [];
  const command = [process.execPath, projectFile(".build", "api", "tracker.js"), ...args];
  const child = ChildServer.spawn(command, env, (line) => lines.push(line));
  return { code: await child.ended, output: lines.join("\n") };
}

test("ingress, processors, api and the command line run with their own NATS users, and miss no permission", async () => {
  expect(await tracker(settingsOf("operator"), "migrate")).toMatchObject({ code: 0 });
  const processors = ChildServer.spawn(nodeProgram("processors"), settingsOf("processors"));
  const api = ChildServer.spawn(nodeProgram("api"), settingsOf("api"));
  const made = await tracker(settingsOf("operator"), "demo", "--json");
  const demo = Demo.parse(JSON.parse(made.output));
  const ingress = ChildServer.spawn(await ingressProgram(), settingsOf("ingress"));
  const client = new ServiceClient(demo);
  try {
    expect([await ingress.untilRunning(), await processors.untilRunning()]).toEqual([true, true]);
    await api.untilAnswering(`http://127.0.0.1:${ports.api}/health`);
    const clickId = await clickOn(client, demo.links.affiliate.replace(/\?.*/, ""));
    // The click writer answers for a click that is not stored yet.
    await client.rest(`/clicks/${clickId}`);
    const report = `${demo.tracking_url}/pb?token=${demo.postback_token}&click_id=${clickId}&txid=1`;
    expect((await client.attempt(report)).status).toBe(200);
    const { data } = Listed.parse(await client.rest("/conversions"));
    await client.send("PATCH", `/conversions/${data[0]?.id ?? ""}`, { status: "rejected" });
    await until(
      "the click is stored once",
      async () => (await storedClicks(servers.urls.clickhouse, "users")).length === 1,
      WAIT,
    );
    expect(await tracker(settingsOf("operator"), "streams")).toMatchObject({ code: 0 });
  } finally {
    await client.close();
    await Promise.all([ingress.end(), processors.end(), api.end()]);
  }
  expect(node.log).not.toMatch(/violation/i);
});

test("with a wrong password ingress answers, processors and api wait, and a command ends with one sentence", async () => {
  const wrong = settingsAt(`nats://operator:wrong-hush@${node.address}`);
  const migrated = await tracker(wrong, "migrate");
  expect(migrated.code).toBe(1);
  expect(migrated.output).toContain(
    `JetStream was not migrated: NATS at ${node.address} refuses the login: check user and password`,
  );
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  const started = [
    ChildServer.spawn(await ingressProgram(), wrong, note),
    ChildServer.spawn(nodeProgram("processors"), wrong, note),
    ChildServer.spawn(nodeProgram("api"), wrong, note),
  ];
  try {
    await until(
      "each process has said why it has no NATS",
      () => lines.filter((line) => line.includes("refuses the login")).length >= started.length,
      WAIT,
    );
    for (const port of [ports.tracking, ports.api]) {
      await until(
        "it answers",
        async () => (await fetch(`http://127.0.0.1:${port}/health`)).status < 600,
        WAIT,
      );
    }
    expect(started.map(({ isRunning }) => isRunning)).toEqual([true, true, true]);
    expect([...lines, migrated.output].join("\n")).not.toContain("hush");
  } finally {
    await Promise.all(started.map((one) => one.end()));
  }
});

test("contradicting logins end every process with code 2 and one sentence", async () => {
  const env = { ...settingsAt(`${node.urlOf("api")},nats://${node.address}`) };
  const programs = [
    await ingressProgram(),
    nodeProgram("processors"),
    nodeProgram("api"),
    [process.execPath, projectFile(".build", "api", "tracker.js"), "migrate"],
  ];
  for (const program of programs) {
    const child = ChildServer.spawn(program, env);
    expect(await child.ended).toBe(2);
    expect(child.output).toContain("NATS_URL: its URLs differ in user or password");
    expect(child.output).not.toContain("hush");
  }
});

/** Clicks until the ingress has the catalog with the demo. Returns the id of the click that redirected. */
async function clickOn(client: ServiceClient, link: string): Promise<string> {
  return await until(
    "the link redirects",
    async () => {
      const { status, headers } = await client.attempt(`${link}?sub1=users`, BROWSER);
      if (status !== 302) return undefined;
      return /trk_cid=([0-9a-f]{32})/.exec(String(headers["set-cookie"]))?.[1];
    },
    WAIT,
  );
}
