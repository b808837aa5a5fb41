import { expect, test } from "vitest";
import { z } from "zod";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { type Job, killJob } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause, type ServiceClient } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 20 : 2;
const SENDERS = 8;
const EVERYTHING: readonly Job[] = [
  "ingress",
  "processors",
  "postgres",
  "nats",
  "clickhouse",
  "api",
];
const Body = z.object({ ok: z.boolean(), conversion_id: z.string().optional() });
const Page = z.object({
  data: z.array(
    z.object({ id: z.string(), adv_txid: z.string().nullable(), is_duplicate: z.boolean() }),
  ),
  next_cursor: z.string().nullable(),
});

const random = randomOf(SEED);

test("an ok:true of /pb survives kill -9 of every process at once (P14)", async (context) => {
  await using system = await startSystem();
  const { client } = system;
  const accepted = new Map<string, string>();
  let running = true;
  const run = `p14-${Date.now().toString(36)}`;
  let next = 0;
  const sender = async (): Promise<void> => {
    while (running) {
      const order = `${run}-${next++}`;
      const id = await convertOnce(client, order);
      if (id !== undefined) accepted.set(order, id);
      else await pause(100);
    }
  };
  const senders = Array.from({ length: SENDERS }, sender);
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = accepted.size;
    await until("conversions are recorded", () => accepted.size > before + 50, {
      timeoutMs: 90_000,
    });
    await pause(random() * 300);
    await Promise.all(EVERYTHING.map((job) => killJob(system.dataDir, job)));
  }
  const before = accepted.size;
  await until("conversions are recorded after the last kill", () => accepted.size > before + 50, {
    timeoutMs: 90_000,
  });
  running = false;
  await Promise.all(senders);
  const stored = await storedOrders(client, run);
  const lost = [...accepted].filter(([order, id]) => stored.get(order) !== id);
  reportCases(context, { cases: accepted.size, violations: lost.length });
  expect(lost, `of ${accepted.size} that were answered ok:true`).toEqual([]);
});

/** One click and its conversion. Returns the conversion's id after ok:true, undefined after a 503 or no answer. */
async function convertOnce(client: ServiceClient, order: string): Promise<string | undefined> {
  try {
    const click = await client.attempt(client.demo.links.affiliate.replace(/\?.*/, ""), {
      "user-agent": "Mozilla/5.0 Firefox/130.0",
    });
    const clickId = /trk_cid=([0-9a-f]{32})/.exec(String(click.headers["set-cookie"]))?.[1];
    if (clickId === undefined) return undefined;
    const answer = await client.attempt(
      `${client.demo.tracking_url}/pb?token=${client.demo.postback_token}&click_id=${clickId}&txid=${order}`,
    );
    const body = Body.parse(JSON.parse(answer.body));
    // An outage must be a 503. A business error here would be wrong (P15).
    if (answer.status === 200 && !body.ok) throw new RangeError(`refused: ${answer.body}`);
    return answer.status === 200 ? body.conversion_id : undefined;
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}

async function storedOrders(client: ServiceClient, run: string): Promise<Map<string, string>> {
  const orders = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const page: z.infer<typeof Page> = Page.parse(
      await client.rest(
        `/conversions?limit=500${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      ),
    );
    for (const row of page.data) {
      if (row.adv_txid?.startsWith(run) === true && !row.is_duplicate)
        orders.set(row.adv_txid, row.id);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return orders;
}
