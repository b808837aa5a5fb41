import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Demo } from "../../../deploy/local/demo-file.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { connectNats } from "../../../schemas/nats/connect.ts";
import { readStreamIdentities } from "../../../schemas/nats/stream-identity.ts";
import { STREAM_DEFAULTS } from "../../../schemas/nats/stream-settings.ts";
import { type RunningServers, startServers } from "../../services/servers.ts";
import { ChildServer } from "../../system/child-server.ts";
import { ServiceClient } from "../../system/service.ts";
import { ingressProgram, nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { until } from "../../system/until.ts";
import { NatsNode, type NatsUser } from "./nats-node.ts";

const Listed = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
const Records = z.looseObject({ data: z.array(z.looseObject({ id: z.int() })) });
const WAIT = { timeoutMs: 90_000 };
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
  const made = await tracker(settingsOf("operator"), "demo", "--json");
  const demo = Demo.parse(JSON.parse(made.output));
  const api = ChildServer.spawn(nodeProgram("api"), settingsOf("api"));
  await streamHasMark();
  const processors = ChildServer.spawn(nodeProgram("processors"), settingsOf("processors"));
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
    const offerId = await offerOf(client);
    await coupon(client, offerId);
    await htmlPixel(client, offerId);
    await cap(client, offerId);
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

/** An api that runs alone records Postgres in the stream. */
async function streamHasMark(): Promise<void> {
  const nats = await connectNats({
    url: node.urlOf("operator"),
    name: "test",
    prefix: "",
    streams: STREAM_DEFAULTS,
  });
  try {
    const mark = async (): Promise<unknown> => (await readStreamIdentities(nats))[0];
    await until("the stream has the mark of Postgres", mark, WAIT);
  } finally {
    await nats.connection.close();
  }
}

async function offerOf(client: ServiceClient): Promise<number> {
  const code = /\/r\/([^/]+)\//.exec(client.demo.links.affiliate)?.[1] ?? "";
  return await idOf(client, `/offers?q=${code}`);
}

async function idOf(client: ServiceClient, path: string): Promise<number> {
  const { data } = Records.parse(await client.rest(path));
  if (data[0] === undefined) throw new Error(`${path} has no record`);
  return data[0].id;
}

/** A conversion with a coupon and without a click: a processor has an ingress make the click. */
async function coupon(client: ServiceClient, offerId: number): Promise<void> {
  const affiliateId = await idOf(client, "/affiliates?q=DEMOANNA");
  await client.create("/coupons", {
    code: "USERS10",
    offer_id: offerId,
    affiliate_id: affiliateId,
  });
  const { tracking_url: url, postback_token: token } = client.demo;
  const report = `${url}/pb?token=${token}&coupon_code=USERS10&txid=coupon`;
  await until(
    "the coupon credits its partner",
    async () => (await client.attempt(report)).body.includes('"ok":true'),
    WAIT,
  );
  await untilClick("link_type = 'coupon'");
}

/** A partner's HTML, which ingress gets from a delivery processor. */
async function htmlPixel(client: ServiceClient, offerId: number): Promise<void> {
  await client.create("/postbacks", {
    offer_id: offerId,
    kind: "html",
    url: "http://partner.test/unused",
    body: "<b>thanks</b>",
  });
  const { affiliate } = client.demo.links;
  await until(
    "the pixel carries the partner's HTML",
    async () => {
      const clickId = await clickOn(client, affiliate.replace(/\?.*/, ""));
      const pixel = `${client.demo.tracking_url}/px.html?click_id=${clickId}&txid=${clickId}`;
      return (await client.attempt(pixel, BROWSER)).body.includes("thanks");
    },
    WAIT,
  );
}

/** A reached cap, which the processors tell every ingress. */
async function cap(client: ServiceClient, offerId: number): Promise<void> {
  await client.send("PATCH", `/offers/${offerId}`, { caps: { conversions: { total: 1 } } });
  const { tracking_url: url, postback_token: token, links } = client.demo;
  await until(
    "the link leads to the offer no more",
    async () => {
      const { status, headers } = await client.attempt(links.affiliate, BROWSER);
      const clickId = /[0-9a-f]{32}/.exec(String(headers["location"]))?.[0];
      if (status !== 302 || clickId === undefined) return true;
      // Only conversions since the cap was set count.
      await client.attempt(`${url}/pb?token=${token}&click_id=${clickId}&txid=${clickId}`);
      return false;
    },
    { ...WAIT, pollMs: 500 },
  );
  await untilClick("status_reason = 'cap'");
}

async function untilClick(condition: string): Promise<void> {
  const isStored = async (): Promise<boolean> => (await clicksWhere(condition)) > 0;
  await until(`a click with ${condition} is stored`, isStored, WAIT);
}

async function clicksWhere(condition: string): Promise<number> {
  const clickhouse = openClickhouse({ url: servers.urls.clickhouse, applicationName: "test" });
  try {
    const query = `select count() as clicks from click where ${condition}`;
    const answer = await clickhouse.query({ query, format: "JSONEachRow" });
    const [row] = z.array(z.object({ clicks: z.number() })).parse(await answer.json());
    return row?.clicks ?? 0;
  } finally {
    await clickhouse.close();
  }
}

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
