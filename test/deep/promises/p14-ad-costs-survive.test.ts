import { expect, test } from "vitest";
import { z } from "zod";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { type Job, killJob } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 20 : 2;
const SENDERS = 4;
const CAMPAIGNS_EACH = 50;
const DATE = "2026-01-15";
const KILLED: readonly Job[] = ["processors", "api", "postgres", "clickhouse"];

const Report = z.object({
  data: z.array(z.object({ ext_campaign_id: z.string(), ad_cost: z.string() })),
});

const random = randomOf(SEED);

test("answered ad costs and their changes are in reports, exactly, through kill -9 (P13, P14)", async (context) => {
  await using system = await startSystem();
  const { base_url, keys } = system.client.demo;
  const headers = {
    authorization: `Bearer ${keys.admin}`,
    "content-type": "application/json",
  };
  /** The amount of each campaign in the last answered call. */
  const answered = new Map<string, string>();
  let calls = 0;
  let running = true;

  /** Sends a part of the sender's campaigns until the call is answered. A repeat changes nothing. */
  const send = async (amounts: ReadonlyMap<string, string>): Promise<void> => {
    const rows = [...amounts].map(([ext_campaign_id, amount]) => ({
      date: DATE,
      currency: "USD",
      ext_campaign_id,
      amount,
    }));
    for (;;) {
      const status = await fetch(`${base_url}/ad-costs`, {
        method: "POST",
        headers,
        body: JSON.stringify({ rows }),
        signal: AbortSignal.timeout(10_000),
      }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 201) break;
      await pause(100);
    }
    for (const [campaign, amount] of amounts) answered.set(campaign, amount);
    calls += 1;
  };
  const sender = async (_: unknown, senderIndex: number): Promise<void> => {
    for (let turn = 1; running; turn += 1) {
      const campaigns = Array.from({ length: CAMPAIGNS_EACH }, (__, n) => `${senderIndex}-${n}`);
      const some = campaigns.filter((___, n) => (n + turn) % 3 !== 0);
      await send(new Map(some.map((campaign, n) => [campaign, `${turn % 1_000}.${1_000 + n}`])));
    }
  };
  const senders = Promise.all(Array.from({ length: SENDERS }, sender));

  for (let round = 0; round < ROUNDS; round += 1) {
    const before = calls;
    await until("costs are recorded", () => calls > before + 20, { timeoutMs: 90_000 });
    await pause(random() * 500);
    await Promise.all(KILLED.map((job) => killJob(system.dataDir, job)));
  }
  const before = calls;
  await until("costs are recorded after the last kill", () => calls > before + 20, {
    timeoutMs: 90_000,
  });
  running = false;
  await senders;
  expect(answered.size).toBe(SENDERS * CAMPAIGNS_EACH);
  let shown: Record<string, string> = {};
  await until(
    "reports have caught up",
    async () => {
      const { data } = Report.parse(
        await system.client.rest(
          `/reports?from=${DATE}&to=${DATE}&group_by=ext_campaign_id&metrics=ad_cost`,
        ),
      );
      shown = Object.fromEntries(data.map((row) => [row.ext_campaign_id, row.ad_cost]));
      return [...answered].every(([campaign, amount]) => shown[campaign] === amount);
    },
    { pollMs: 250 },
  ).catch(() => undefined);
  const wrong = [...answered].filter(([campaign, amount]) => shown[campaign] !== amount);
  reportCases(context, { cases: answered.size, violations: wrong.length });
  expect(shown).toEqual(Object.fromEntries(answered));
});
