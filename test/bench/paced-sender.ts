/**
 * A process that sends requests at an even rate: `node paced-sender.js <order.json>`. It sends each request at its due time, whether or not
 * earlier ones have been answered, and times it from then. Prints one line of JSON: {@link PacedResult}.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { PacedOrder, type PacedResult } from "./paced-order.ts";
import { quantile } from "./result.ts";

/** With this many requests unanswered, the sender waits: it would otherwise measure itself. */
const UNDER_WAY_MAX = 2_000;
const TIMEOUT_MS = 20_000;

type Sent = { readonly status: number; readonly body: string; readonly cookie: string };

const order = PacedOrder.parse(JSON.parse(await readFile(process.argv[2] ?? "", "utf8")));
const agent = new Agent({ keepAlive: true, maxSockets: 512 });
const timesMs: number[] = [];
const outcomes: Record<string, number> = {};
let underWay = 0;

function send(url: string, headers: Record<string, string>, body = ""): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const method = body === "" ? "GET" : "POST";
    const sent = request(url, { agent, method, headers, timeout: TIMEOUT_MS }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          body: text,
          cookie: String(answer.headers["set-cookie"]),
        }),
      );
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", reject).end(body);
  });
}

/** A random address; a repeat is unlikely. */
function anyAddress(): string {
  const part = (): number => 1 + Math.floor(Math.random() * 222);
  return `${part()}.${part()}.${part()}.${part()}`;
}

/** Makes clicks first, so that only their reports are timed. Every other report finds its click by ad ID. */
async function makeReports(count: number): Promise<string[]> {
  const reports: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const gclid = randomUUID();
    const headers = { "x-forwarded-for": anyAddress(), "user-agent": "Mozilla/5.0 Firefox/130.0" };
    const { cookie } = await send(`${order.trackingUrl}${order.linkPath}?gclid=${gclid}`, headers);
    const clickId = /trk_cid=([0-9a-f]{32})/.exec(cookie)?.[1] ?? "";
    const named = n % 2 === 0 ? `click_id=${clickId}` : `gclid=${gclid}`;
    reports.push(`${order.trackingUrl}/pb?token=${order.token}&${named}&txid=${gclid}&amount=10`);
  }
  return reports;
}

const total = Math.round(order.perSecond * order.seconds);
const reports = order.kind === "reports" ? await makeReports(total) : [];

/** Sends the nth request and returns the name of its outcome in the result. */
async function sendOne(n: number): Promise<string> {
  const headers = { "x-forwarded-for": anyAddress(), "user-agent": "Mozilla/5.0 Firefox/130.0" };
  switch (order.kind) {
    case "reports": {
      const { status, body } = await send(reports[n] ?? "", headers);
      return status === 200 && body.includes('"ok":true')
        ? "ok"
        : `${status} ${body.slice(0, 100)}`;
    }
    case "ad-ids": {
      const gclid = randomUUID();
      const { status } =
        n % 2 === 0
          ? await send(`${order.trackingUrl}/px?gclid=${gclid}`, headers)
          : await send(`${order.trackingUrl}/lp`, headers, JSON.stringify({ gclid }));
      return String(status);
    }
    case "keys": {
      const guess = randomUUID();
      const { status } =
        n % 2 === 0
          ? await send(`${order.apiUrl}/api/v1/me`, {
              ...headers,
              authorization: `Bearer ${guess}`,
            })
          : await send(`${order.trackingUrl}/pb?token=${guess}&click_id=${guess}`, headers);
      return String(status);
    }
  }
}

async function timeOne(n: number, dueMs: number): Promise<void> {
  underWay += 1;
  const outcome = await sendOne(n).catch((error: unknown) => String(error));
  underWay -= 1;
  timesMs.push(performance.now() - dueMs);
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}

process.stdout.write("ready\n");
// The parent process closes stdin to start the sending.
for await (const _ of process.stdin) void _;
const startedAtMs = performance.now();
const all: Promise<void>[] = [];
for (let n = 0; n < total; n += 1) {
  const dueMs = startedAtMs + (n * 1_000) / order.perSecond;
  while (performance.now() < dueMs || underWay >= UNDER_WAY_MAX)
    await new Promise((resolve) => setTimeout(resolve, 1));
  all.push(timeOne(n, dueMs));
}
await Promise.all(all);
const result: PacedResult = {
  perSecond: total / ((performance.now() - startedAtMs) / 1_000),
  p50Ms: quantile(timesMs, 0.5),
  p99Ms: quantile(timesMs, 0.99),
  outcomes,
};
process.stdout.write(JSON.stringify(result));
agent.destroy();
