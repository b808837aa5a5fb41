/**
 * A process that sends reports as ingress does: `node conversion-sender.js <order.json>`. Prints one line of JSON:
 * {perSecond, p50Ms, p99Ms, results}.
 */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { connectNats } from "../../schemas/nats/connect.ts";
import { quantile } from "./result.ts";

const Order = z.object({
  natsUrl: z.string(),
  token: z.string(),
  clickIds: z.array(z.string()),
  seconds: z.number(),
  underWay: z.int(),
});
const Reply = z.object({ result: z.string() });

const order = Order.parse(JSON.parse(await readFile(process.argv[2] ?? "", "utf8")));
const nats = await connectNats({ url: order.natsUrl, name: "bench sender", prefix: "" });
const timesMs: number[] = [];
const results: Record<string, number> = {};
const startedAtMs = performance.now();
const endAtMs = startedAtMs + order.seconds * 1_000;
let next = 0;

async function send(): Promise<void> {
  while (performance.now() < endAtMs && next < order.clickIds.length) {
    const clickId = order.clickIds[next];
    next += 1;
    const sentAtMs = performance.now();
    const reply = await nats.connection.request(
      nats.subjects.postback,
      JSON.stringify({
        endpoint: "pb",
        params: { token: order.token, click_id: clickId },
        cookieClickId: "",
        host: "localhost",
        ip: "203.0.113.7",
        userAgent: "bench",
        receivedAtMs: Date.now(),
      }),
      { timeout: 20_000 },
    );
    timesMs.push(performance.now() - sentAtMs);
    const { result } = Reply.parse(reply.json());
    results[result] = (results[result] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: order.underWay }, send));
const seconds = (performance.now() - startedAtMs) / 1_000;
await nats.connection.close();
process.stdout.write(
  JSON.stringify({
    perSecond: timesMs.length / seconds,
    p50Ms: quantile(timesMs, 0.5),
    p99Ms: quantile(timesMs, 0.99),
    results,
  }),
);
