import { expect, test } from "vitest";
import { runCommandOn } from "../../../integration/api/run-tracker.ts";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld } from "../../../integration/clicks/click-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const MINUTE_MS = 60_000;
const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };

const world = await forThisFile(ClickWorld.open());

async function tracker(...args: string[]): Promise<string> {
  return (await runCommandOn(world, args)).result;
}

/** Published by a running producer in epoch 1: no earlier epoch is open. */
const RUNNING = { endedBefore: 1 };

/** Until when the writer has every click, UTC ms. */
async function completeTo(lane: number): Promise<number> {
  const query = {
    by: "ad-click-id",
    shard: lane,
    workspaceId: 1,
    kind: "gclid",
    value: "x",
    offerId: 0,
  } as const;
  return (await world.ask(query)).completeToMs;
}

test("a silent producer is listed and given up; its later records still count (#9)", async () => {
  const lane = 1;
  const t = Date.now() - 30 * MINUTE_MS;
  const live = world.producer({ lane, producer: 11 });
  const dead = world.producer({ lane, producer: 12 });
  await world.pool.query({
    text: `insert into workspace (slug, name, postback_token) values ('acme', 'Acme', 'acme-token')`,
  });
  await world.pool.query({
    text: `insert into ingress_producer (id, host) overriding system value values (11, 'edge-1'), (12, 'edge-2'), (13, 'edge-3')`,
  });
  await world.startWriter();
  await dead.idle(t, RUNNING);
  await live.idle(Date.now() - 2_000, RUNNING);
  await live.idle(Date.now(), RUNNING);
  await until(
    "the writer waits for the silent producer",
    async () => (await completeTo(lane)) === t,
    PATIENCE,
  );
  const list = async (): Promise<unknown> => {
    const producers: unknown = JSON.parse(await tracker("producer", "list", "--json"));
    return producers;
  };
  const since = new Date(t).toISOString();
  await until(
    "both are noted",
    async () => JSON.stringify(await list()).includes("running"),
    PATIENCE,
  );
  expect(await list()).toMatchObject([
    { id: 11, host: "edge-1", state: "running", mayMissSince: null },
    { id: 12, host: "edge-2", state: "silent", lastWordAt: since, mayMissSince: since },
    { id: 13, host: "edge-3", state: "ended", lastWordAt: null, mayMissSince: null },
  ]);
  expect(await tracker("producer", "list")).toMatch(/12 +edge-2 +silent/);

  await expect(tracker("producer", "give-up", "11")).rejects.toThrow(
    /producer 11 on edge-1 is running/,
  );
  await expect(tracker("producer", "give-up", "99")).rejects.toThrow("There is no producer 99");
  await expect(tracker("producer", "give-up", "x")).rejects.toThrow("not a producer number");
  expect(await tracker("producer", "give-up", "13")).toContain("stopped cleanly");
  const given = `Producer 12 is given up. Clicks that it answered since ${since} may be missing.`;
  expect(await tracker("producer", "give-up", "12")).toBe(given);
  expect(await tracker("producer", "give-up", "12")).toBe(given);
  await until(
    "the writer no longer waits for it",
    async () => {
      await live.idle(Date.now(), RUNNING);
      return (await completeTo(lane)) > t + 29 * MINUTE_MS;
    },
    PATIENCE,
  );
  const noted = await world.pool.query<{ action: string }>({
    text: "select action from audit_log order by id",
  });
  expect(noted.rows.map(({ action }) => action)).toEqual(["cli producer give-up 12"]);

  dead.record(aClick({ offer_id: lane, ts: t + MINUTE_MS }), aClick({ offer_id: lane }));
  await dead.ship(0, 2, { at: Date.now(), endedBefore: 1 });
  await world.untilSettled(dead);
  expect(await world.counts(lane)).toEqual({ rows: 2, positions: 2 });
  await until(
    "it runs again",
    async () => JSON.stringify(await list()).split("running").length === 3,
    PATIENCE,
  );
});

test("a lost producer whose clock was ahead is given up: a future time is no sign of life (#9)", async () => {
  const aheadMs = Date.now() + 360 * MINUTE_MS;
  await world.pool.query({
    text: `insert into ingress_producer (id, host, run_at) overriding system value
           values (22, 'edge-22', now() - interval '1 minute'), (23, 'edge-23', now())`,
  });
  await world.pool.query({
    text: "insert into click_producer (lane, producer, epoch, said_ms) values (2, 22, 1, $1), (2, 23, 1, $1)",
    values: [aheadMs],
  });
  const since = new Date(aheadMs).toISOString();
  expect(await tracker("producer", "give-up", "22")).toContain(`since ${since} may be missing`);
  await expect(tracker("producer", "give-up", "23")).rejects.toThrow("is running");
});
