import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  type Received,
  type Receiver,
  startReceiver,
} from "../../integration/outgoing/receiver.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { verifyWebhook } from "../../system/verify-webhook.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const WAIT = { timeoutMs: 90_000 };
const LogLine = z.looseObject({
  process: z.string(),
  msg: z.string(),
  request_id: z.string().optional(),
});
type LogLine = z.infer<typeof LogLine>;
const Record = z.object({ data: z.looseObject({ id: z.int(), secret: z.string().optional() }) });
const LogPage = z.object({
  data: z.array(z.looseObject({ request_id: z.string().nullable(), click_id: z.unknown() })),
});

let system: System;
let receiver: Receiver;
let secret = "";

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startSystem({ env: { LOG_LEVEL: "debug", ALLOW_PRIVATE_DESTINATIONS: "1" } });
  const { client } = system;
  const events = ["conversion.created", "conversion.updated", "offer.created"];
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const hook = await client.create("/webhooks", { name: "one", url, events });
  secret = Record.parse(hook).data.secret ?? "";
  await client.create("/postbacks", {
    offer_id: await demoOffer(),
    url: `http://127.0.0.1:${receiver.port}/partner?click={click_id}`,
  });
});

afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await receiver.close();
});

async function demoOffer(): Promise<number> {
  const Offers = z.object({ data: z.array(z.looseObject({ id: z.int(), code: z.string() })) });
  const { data } = Offers.parse(await system.client.rest("/offers"));
  const offer = data.find(({ code }) => code === "DEMOSHOP");
  if (offer === undefined) throw new Error("the demo has no offer DEMOSHOP");
  return offer.id;
}

/** Every line that the processes of the product have logged under this ID. */
async function linesOf(requestId: string): Promise<LogLine[]> {
  const folder = join(system.dataDir, "logs");
  const found: LogLine[] = [];
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((one) => one.endsWith(".log"))) {
    for (const line of (await readFile(join(folder, name), "utf8")).split("\n")) {
      if (!line.startsWith("{") || !line.includes(requestId)) continue;
      const read = LogLine.safeParse(JSON.parse(line));
      if (read.success && read.data.request_id === requestId) found.push(read.data);
    }
  }
  return found;
}

async function untilLogged(requestId: string, event: string): Promise<LogLine> {
  return await until(
    `${event} is logged under ${requestId}`,
    async () => (await linesOf(requestId)).find(({ msg }) => msg === event),
    WAIT,
  );
}

async function untilReceived(path: string, requestId: string): Promise<Received> {
  return await until(
    `${path} receives ${requestId}`,
    () =>
      receiver.received.find(
        ({ target, headers }) =>
          target.startsWith(path) && headers["x-tracker-request"] === requestId,
      ),
    WAIT,
  );
}

async function click(): Promise<string> {
  const { headers } = await system.client.attempt(system.client.demo.links.affiliate);
  return /[0-9a-f]{32}/.exec(String(headers["location"]))?.[0] ?? "";
}

test("a proxy's ID leads from the edge through logs and inbound log to both receivers (P26)", async () => {
  const { client } = system;
  const { tracking_url: tracking, postback_token: token } = client.demo;
  const requestId = `edge_${randomUUID()}`;
  const clickId = await click();
  const report = `${tracking}/pb?token=${token}&click_id=${clickId}`;
  const answer = await client.attempt(report, { "x-request-id": requestId });
  expect(answer.status).toBe(200);
  expect(answer.headers["x-request-id"]).toBe(requestId);

  expect(await untilLogged(requestId, "conversions.reported")).toMatchObject({
    process: "processors",
    result: "approved",
  });
  const hook = await untilReceived("/hook", requestId);
  expect(verifyWebhook(hook, secret).event).toBe("conversion.created");
  const postback = await untilReceived("/partner", requestId);
  expect(postback.target).toContain(clickId);
  await until(
    "both attempts are logged",
    async () => {
      const attempts = (await linesOf(requestId)).filter(({ msg }) => msg === "delivery.attempted");
      return new Set(attempts.map(({ kind }) => kind)).size === 2;
    },
    WAIT,
  );
  const search = 'grep -h "$REQUEST_ID" "$DATA_DIR"/logs/*.log';
  const environment = { ...process.env, REQUEST_ID: requestId, DATA_DIR: system.dataDir };
  const { stdout } = spawnSync("sh", ["-c", search], { env: environment, encoding: "utf8" });
  for (const event of ["conversions.reported", "delivery.attempted"])
    expect(stdout).toContain(`"msg":"${event}"`);
  await until(
    "the inbound log shows the ID",
    async () => {
      const page = LogPage.parse(await client.rest(`/postback-log?click_id=${clickId}`));
      return page.data.some(({ request_id: shown }) => shown === requestId);
    },
    WAIT,
  );
});

test("an ID that no trusted proxy could have sent is replaced, and other answers have their own", async () => {
  const { client } = system;
  const { tracking_url: tracking } = client.demo;
  const shown = async (path: string, given: string): Promise<unknown> => {
    const answer = await client.attempt(`${tracking}${path}`, { "x-request-id": given });
    return answer.headers["x-request-id"];
  };
  expect(await shown("/pb", "short")).toMatch(UUID);
  expect(await shown("/pb", "has.a.dot.in.it")).toMatch(UUID);
  for (const path of ["/pb", "/r/UNKNOWN/UNKNOWN", "/no/such/path", "/px?click_id=x", "/lp"]) {
    expect(await shown(path, "of-the-proxy"), path).toBe("of-the-proxy");
  }
});

test("the API's ID of a change is that of its webhook", async () => {
  const { client } = system;
  const requestId = `api-${randomUUID()}`;
  const { data } = z
    .object({ data: z.array(z.looseObject({ id: z.string(), status: z.string() })) })
    .parse(await client.rest("/conversions"));
  const approved = data.find(({ status }) => status === "approved");
  if (approved === undefined) throw new Error("there is no conversion");
  const answer = await fetch(`${client.demo.base_url}/conversions/${approved.id}`, {
    method: "PATCH",
    body: JSON.stringify({ status: "rejected" }),
    headers: {
      authorization: `Bearer ${client.demo.keys.admin}`,
      "content-type": "application/json",
      "x-request-id": requestId,
    },
  });
  expect(answer.status).toBe(200);
  const hook = await untilReceived("/hook", requestId);
  expect(verifyWebhook(hook, secret).event).toBe("conversion.updated");
  expect(await untilLogged(requestId, "request.answered")).toMatchObject({
    process: "api",
    operation: "updateConversion",
    status: 200,
  });
});

test("every answer of the API is in the log under its ID, whatever its status (ENV-026)", async () => {
  const { base_url: api, mcp_url: mcp, keys } = system.client.demo;
  const origin = new URL(api).origin;
  const key = { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" };
  const wrong = { authorization: "Bearer trk_wrong" };
  const calls: [string, RequestInit, number][] = [
    [`${api}/me`, { headers: key }, 200],
    [`${api}/offers?limit=x`, { headers: key }, 400],
    [`${api}/offers/%E0%A4%A`, { headers: key }, 404],
    [`${api}/offers`, { method: "POST", headers: key, body: "{" }, 400],
    [`${api}/me`, {}, 401],
    [`${api}/me`, { headers: wrong }, 401],
    [`${api}/no-such-path`, { headers: key }, 404],
    [`${api}/me`, { method: "DELETE", headers: key }, 405],
    [`${origin}/no-such-path`, {}, 404],
    [`${origin}/health`, {}, 200],
    [mcp, { method: "POST", headers: wrong, body: "{}" }, 401],
    [mcp, { method: "GET", headers: key }, 405],
    [mcp, { method: "POST", headers: key, body: "{" }, 400],
    [
      mcp,
      {
        method: "POST",
        headers: key,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      },
      200,
    ],
  ];
  for (const [url, init, status] of calls) {
    const answer = await fetch(url, init);
    expect(answer.status, url).toBe(status);
    const requestId = answer.headers.get("x-request-id") ?? "";
    expect(requestId, url).toMatch(UUID);
    expect(await untilLogged(requestId, "request.answered"), url).toMatchObject({ status });
  }
});

test("what is no request at all is answered and logged under an ID too", async () => {
  const { port, hostname } = new URL(system.client.demo.base_url);
  const answer = await new Promise<string>((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write("this is no HTTP\r\n\r\n"));
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (text += chunk));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  const requestId = /\r\nX-Request-Id: (\S+)\r\n/.exec(answer)?.[1] ?? "";
  expect(await untilLogged(requestId, "request.answered")).toMatchObject({ status: 400 });
});
