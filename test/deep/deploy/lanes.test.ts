import { expect, test, vi } from "vitest";
import { z } from "zod";
import { Lanes } from "../../../schemas/events/lanes.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { OwnServer } from "../../system/own-server.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause, readDemo, ServiceClient } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import {
  LaneTraffic,
  laneFaults,
  makeOffer,
  makeOffers,
  storedLaneClicks,
} from "./lane-traffic.ts";
import { TrackerInstance } from "./tracker-instance.ts";

vi.setConfig({ testTimeout: 300_000 });

const SIXTEEN = new Lanes(16);
const OFFERS = 24;
const KILLS = 3;
/** Each of 16 lanes needs two that are young. */
const CLICKS = IS_FULL ? 2_000 : 800;
const PAUSE_MS = IS_FULL ? 5 : 50;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };

const Page = z.object({
  data: z.array(z.looseObject({ click_id: z.string() })),
  next_cursor: z.string().nullable(),
});
const Found = z.object({
  data: z.object({
    click: z.looseObject({ click_id: z.string() }),
    conversions: z.array(z.unknown()),
  }),
});
const Reported = z.looseObject({ ok: z.boolean() });

test("an installation with 16 lanes counts each click once, through kill -9 of its writers", async () => {
  await using postgres = await OwnServer.open("postgres");
  await using clickhouse = await OwnServer.open("clickhouse");
  await using nats = await OwnServer.open("nats");
  await using tracker = await TrackerInstance.open(
    { postgres: postgres.url, clickhouse: clickhouse.url, nats: () => nats.url },
    { env: { CLICK_LANES: "16" } },
  );
  await tracker.prepare();
  await tracker.start();
  const client = new ServiceClient(await readDemo(tracker.dataDir));
  const offers = await makeOffers(client, OFFERS);
  const capped = await makeOffer(client, "capped", { caps: { clicks: { total: 5 } } });
  const random = randomOf(SEED);
  const traffic = new LaneTraffic(client, offers, random);
  for (const offer of [...offers, capped])
    await until(
      "the offer is known",
      async () => (await traffic.click(offer, 0)) !== undefined,
      PATIENCE,
    );
  const others = new LaneTraffic(client, [capped], random);

  traffic.start(4, PAUSE_MS);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(1_000 + random() * 2_000);
    tracker.clicks.kill();
    await tracker.untilReady(tracker.clicks);
  }
  await until(`${CLICKS} clicks`, () => traffic.answered.length >= CLICKS, PATIENCE);
  // Young clicks of every lane, while they come: by id and by the ad ID.
  for (const lane of SIXTEEN.clicks) {
    const clicks = traffic.answered.filter(({ offer }) => SIXTEEN.ofOffer(offer.id) === lane);
    const [before, last] = clicks.slice(-2);
    if (before === undefined || last === undefined) throw new Error(`lane ${lane} has no clicks`);
    expect(await reported(client, { gclid: last.gclid })).toBe(true);
    expect(await reported(client, { click_id: before.clickId })).toBe(true);
    for (const { clickId } of [last, before]) {
      const { click, conversions } = Found.parse(await client.rest(`/clicks/${clickId}`)).data;
      expect([click.click_id, conversions.length]).toEqual([clickId, 1]);
    }
  }
  await traffic.stop();

  const known = [...offers, capped];
  await until(
    "every click is stored",
    async () => (await storedLaneClicks(clickhouse.url, known)).length >= traffic.answered.length,
    PATIENCE,
  );
  const stored = await storedLaneClicks(clickhouse.url, known);
  expect(laneFaults(traffic, stored), `seed ${SEED}`).toEqual([]);
  expect(await listed(client)).toEqual(
    expect.arrayContaining(traffic.answered.map(({ clickId }) => clickId)),
  );
  expect([...new Set(stored.map(({ lane }) => lane))].toSorted((a, b) => a - b)).toEqual(
    SIXTEEN.clicks,
  );
  expect(stored.filter(({ lane, offer_id }) => lane !== SIXTEEN.ofOffer(offer_id))).toEqual([]);

  // One click on the capped offer was counted above, and the total is known everywhere within two seconds.
  const goals: string[] = [];
  for (let visitor = 1; visitor < 5; visitor += 1)
    goals.push(String(await others.click(capped, visitor)));
  await until(
    "the cap is reached",
    async () => (await others.click(capped, 9)) === "https://fallback.example/",
    PATIENCE,
  );
  expect(goals.every((goal) => goal.startsWith("https://capped.example/"))).toBe(true);

  const audited = await tracker.command("audit");
  expect(audited.code, audited.output).toBe(0);
  expect(await tracker.run("status")).toMatch(/lanes .*0-15,100/);
  await tracker.run("migrate");
  await client.close();
});

test("`migrate` refuses another number of lanes once a process has run, and says what to do", async () => {
  await using postgres = await OwnServer.open("postgres");
  await using clickhouse = await OwnServer.open("clickhouse");
  await using nats = await OwnServer.open("nats");
  const servers = { postgres: postgres.url, clickhouse: clickhouse.url, nats: () => nats.url };
  await using four = await TrackerInstance.open(servers, { env: { CLICK_LANES: "" } });
  await using eight = await TrackerInstance.open(servers, { env: { CLICK_LANES: "8" } });
  expect(await four.run("migrate")).toContain("4 click lanes");
  // No process has run, so nothing depends on the number yet.
  expect(await eight.run("migrate")).toContain("8 click lanes");
  expect(await four.run("migrate")).toContain("8 click lanes");
  await four.start([four.clicks]);
  await four.clicks.end();
  await using sixteen = await TrackerInstance.open(servers, { env: { CLICK_LANES: "16" } });
  const refused = await sixteen.command("migrate");
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(
    "The installation works with 8 click lanes, and CLICK_LANES is 16.",
  );
  expect(await eight.run("migrate")).toContain("8 click lanes");
});

/** Whether the report was recorded. It is repeated, as its sender would, while there is an outage. */
async function reported(client: ServiceClient, params: Record<string, string>): Promise<boolean> {
  const { tracking_url, postback_token } = client.demo;
  const query = new URLSearchParams({ token: postback_token, ...params });
  const body = await until(
    "the report is answered",
    async () => {
      const answer = await client.attempt(`${tracking_url}/pb?${query}`);
      return answer.status === 503 ? undefined : answer.body;
    },
    PATIENCE,
  );
  return Reported.parse(JSON.parse(body)).ok;
}

/** Ids of all clicks in the list of the last hour. */
async function listed(client: ServiceClient): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const more: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = Page.parse(await client.rest(`/clicks?preset=today&limit=1000${more}`));
    ids.push(...page.data.map(({ click_id }) => click_id));
    cursor = page.next_cursor;
  }
  return ids;
}
