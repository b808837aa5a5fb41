import { expect, test, vi } from "vitest";
import { z } from "zod";
import { Lanes } from "../../../schemas/events/lanes.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { OwnServer } from "../../system/own-server.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause, readDemo, ServiceClient } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import {
  type LaneClick,
  LaneTraffic,
  laneFaults,
  makeOffer,
  makeOffers,
  storedLaneClicks,
} from "./lane-traffic.ts";
import { TrackerInstance } from "./tracker-instance.ts";

vi.setConfig({ testTimeout: 400_000 });

const SIXTEEN = new Lanes(16);
const OFFERS = 24;
const CLICKS = IS_FULL ? 600 : 250;
const PAUSE_MS = IS_FULL ? 5 : 50;
const LIMIT = 40;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };

const Found = z.object({
  data: z.object({
    click: z.looseObject({ click_id: z.string() }),
    conversions: z.array(z.unknown()),
  }),
});
const Reported = z.looseObject({ ok: z.boolean() });

test.each(IS_FULL ? [SEED, SEED + 1] : [SEED])(
  "4 lanes become 16 through kill -9: a click counts once, a visit is unique once (seed %i)",
  async (seed) => {
    await using postgres = await OwnServer.open("postgres");
    await using clickhouse = await OwnServer.open("clickhouse");
    await using nats = await OwnServer.open("nats");
    await using tracker = await TrackerInstance.open({
      postgres: postgres.url,
      clickhouse: clickhouse.url,
      nats: () => nats.url,
    });
    await tracker.prepare();
    await tracker.start();
    const client = new ServiceClient(await readDemo(tracker.dataDir));
    const offers = await makeOffers(client, OFFERS);
    const capped = await makeOffer(client, "capped", { caps: { clicks: { total: LIMIT } } });
    const random = randomOf(seed);
    const traffic = new LaneTraffic(client, offers, random);
    for (const offer of offers)
      await until(
        "the offer is known",
        async () => (await traffic.click(offer, 0)) !== undefined,
        PATIENCE,
      );
    const cappedClicks = new LaneTraffic(client, [capped], random);
    for (let visitor = 0; visitor < LIMIT / 2; ) {
      if ((await cappedClicks.click(capped, visitor)) !== undefined) visitor += 1;
    }

    traffic.start(4, PAUSE_MS);
    await until("clicks before", () => traffic.answered.length >= CLICKS, PATIENCE);
    const before = traffic.answered.length;
    const startedMs = performance.now();
    const raised = tracker.command("lanes", "raise", "--to", "16");
    for (let kill = 0; kill < 3; kill += 1) {
      await pause(random() * 1_500);
      if (random() < 0.6) tracker.clicks.kill();
      else await tracker.ingress.killChild();
    }
    const outcome = await raised;
    expect(outcome.code, outcome.output).toBe(0);
    expect(outcome.output).toContain("All 16 click lanes are open.");
    const seconds = (performance.now() - startedMs) / 1_000;
    const meanwhile = (traffic.answered.length - before) / seconds;
    const [took, rate] = [seconds.toFixed(1), meanwhile.toFixed(0)];
    process.stderr.write(`lanes raise: ${took} s with three kills, ${rate} clicks/s\n`);
    for (const one of tracker.processes) await tracker.untilReady(one);
    const after = traffic.answered.length;
    await until("clicks after", () => traffic.answered.length >= after + CLICKS, PATIENCE);
    tracker.clicks.kill();
    await until("more", () => traffic.answered.length >= after + 2 * CLICKS, PATIENCE);
    await traffic.stop();
    await tracker.untilReady(tracker.clicks);

    // The cap has counted the clicks of before once: exactly as many as it lets through are left.
    const goals: string[] = [];
    for (let visitor = LIMIT / 2; visitor < LIMIT; ) {
      const goal = await cappedClicks.click(capped, visitor);
      if (goal === undefined) continue;
      goals.push(goal);
      visitor += 1;
    }
    expect(goals.filter((goal) => !goal.startsWith("https://capped.example/"))).toEqual([]);
    await until(
      "the cap is reached",
      async () => (await cappedClicks.click(capped, 0)) === "https://fallback.example/",
      PATIENCE,
    );

    await until(
      "every click is stored",
      async () =>
        (await storedLaneClicks(clickhouse.url, offers)).length >= traffic.answered.length,
      PATIENCE,
    );
    const stored = await storedLaneClicks(clickhouse.url, offers);
    expect(laneFaults(traffic, stored), `seed ${seed}`).toEqual([]);
    const lanes = new Set(stored.map(({ lane }) => lane));
    expect([...lanes].toSorted((a, b) => a - b)).toEqual(SIXTEEN.clicks);
    // The id of each click says in which lane it is, before and after.
    const late = new Set(traffic.answered.slice(after).map(({ clickId }) => clickId));
    const misplaced = stored.filter(
      ({ click_id, lane, offer_id }) => late.has(click_id) && lane !== SIXTEEN.ofOffer(offer_id),
    );
    expect(misplaced).toEqual([]);

    for (const one of [traffic.answered[0], traffic.answered[before], traffic.answered.at(-1)])
      await expectFound(client, one);
    const audited = await tracker.command("audit");
    expect(audited.code, audited.output).toBe(0);
    expect(await tracker.run("lanes")).not.toMatch(/waits|still/);
    expect(await tracker.run("lanes", "raise", "--to", "16")).toContain("are open");
    expect((await tracker.command("lanes", "raise", "--to", "8")).output).toContain(
      "Lanes are only added.",
    );
    await client.close();
  },
);

/** Finds the click by its id, and a report finds it by its ad ID. */
async function expectFound(client: ServiceClient, click: LaneClick | undefined): Promise<void> {
  if (click === undefined) throw new Error("no click");
  const { tracking_url, postback_token } = client.demo;
  const query = new URLSearchParams({ token: postback_token, gclid: click.gclid });
  const body = await until(
    "the report is answered",
    async () => {
      const answer = await client.attempt(`${tracking_url}/pb?${query}`);
      return answer.status === 503 ? undefined : answer.body;
    },
    PATIENCE,
  );
  expect(Reported.parse(JSON.parse(body)).ok).toBe(true);
  const found = Found.parse(await client.rest(`/clicks/${click.clickId}`)).data;
  expect([found.click.click_id, found.conversions.length]).toEqual([click.clickId, 1]);
}
