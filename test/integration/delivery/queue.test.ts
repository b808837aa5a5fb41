import { afterEach, expect, test } from "vitest";
import { countWaiting, holdDeliveries, releaseDeliveries } from "../../../api/cli/delivery-hold.ts";
import { deliver } from "../../../processors/delivery/deliver.ts";
import {
  leaseDueDeliveries,
  listDueEndpoints,
  type Settlement,
  settleDelivery,
} from "../../../processors/delivery/deliveries.ts";
import type { DeliveryKind } from "../../../processors/delivery/delivery.ts";
import { deliveryMetrics } from "../../../processors/delivery/metrics.ts";
import { postbackKind } from "../../../processors/delivery/postback-kind.ts";
import { shareSettlements } from "../../../processors/delivery/shared-settlements.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { fastestMs } from "../../samples/fastest-ms.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { deliveryLane } from "../../services/lanes.ts";
import { testLog } from "../../services/stores.ts";
import { dependentSignals } from "../../system/dependent-signals.ts";
import { until } from "../../system/until.ts";
import { DeliveryWorld } from "./delivery-world.ts";

const world = await forThisFile(DeliveryWorld.open());
afterEach(async () => {
  await world.stopLanes();
  await world.tracking.rows("delete from delivery");
  world.receiver.answer((response) => void response.end());
});

const TOKENS = [
  "00000000-0000-4000-8000-000000000001",
  "00000000-0000-4000-8000-000000000002",
] as const;
const DELIVERED: Settlement = {
  status: "delivered",
  url: "http://x/",
  error: "",
  response_status: 200,
  response_body: "",
  retry_in_ms: null,
  is_sent: true,
  is_endpoints_fault: true,
};

/** Leases up to 8 due deliveries of each endpoint. */
async function lease(token: string, { leaseMs = 30_000, rows = 8 } = {}) {
  const { pool } = world.tracking;
  const grants = (await listDueEndpoints(pool)).map((endpoint) => ({ ...endpoint, rows }));
  return await leaseDueDeliveries(pool, { token, leaseMs, grants });
}

/** Inserts deliveries of one endpoint, as a change of a conversion does. */
async function queue(destination: string, count: number, endpointId = 0): Promise<void> {
  await world.tracking.rows(
    `insert into delivery (workspace_id, kind, endpoint_id, destination, facts)
     select 1, 'postback', $3, $1, '{}' from generate_series(1, $2::integer)`,
    [destination, count, endpointId],
  );
}

test("two workers never lease the same delivery (P22)", async () => {
  for (let i = 0; i < 20; i += 1) await queue(`host-${i}`, 8);
  const both = await Promise.all([lease(TOKENS[0]), lease(TOKENS[1])]);
  both.push(await lease(TOKENS[0]));
  const ids = both.flat().map(({ id }) => id);
  expect(ids).toHaveLength(160);
  expect(new Set(ids).size).toBe(160);
});

test("held deliveries wait, and each is leased once after the release (P22, P38)", async () => {
  const { pool } = world.tracking;
  await queue("a", 3);
  await holdDeliveries(pool, "a test");
  await holdDeliveries(pool, "again");
  await queue("b", 2);
  expect(await lease(TOKENS[0])).toEqual([]);
  expect(await countWaiting(pool)).toEqual({ postbacks: 5, webhooks: 0 });
  expect(await releaseDeliveries(pool)).toBeDefined();
  expect(await lease(TOKENS[0])).toHaveLength(5);
  expect(await lease(TOKENS[1])).toEqual([]);
  expect(await releaseDeliveries(pool)).toBeUndefined();
});

test("a lease takes the granted number of each endpoint, oldest first (P23, #20, G204)", async () => {
  await queue("a", 50, 1);
  await queue("a", 2, 2);
  await queue("b", 50, 1);
  const due = await listDueEndpoints(world.tracking.pool);
  expect(due.map(({ destination, endpoint_id }) => [destination, endpoint_id])).toEqual([
    ["a", 1],
    ["a", 2],
    ["b", 1],
  ]);
  const [first, second] = due;
  if (first === undefined || second === undefined) throw new Error("nothing is due");
  const [oldest] = await world.tracking.rows<{ id: string }>(
    `update delivery set due_at = now() - interval '1 minute'
     where id = (select id from delivery where destination = 'a' and endpoint_id = 1 limit 1) returning id`,
  );
  const leaseOf = async (grants: readonly { rows: number }[]) =>
    await leaseDueDeliveries(world.tracking.pool, {
      token: TOKENS[0],
      leaseMs: 30_000,
      grants: [first, second].flatMap((endpoint, n) => {
        const { rows = 0 } = grants[n] ?? {};
        return rows === 0 ? [] : [{ ...endpoint, rows }];
      }),
    });
  expect((await leaseOf([{ rows: 1 }])).map(({ id }) => id)).toEqual([oldest?.id]);
  const more = await leaseOf([{ rows: 3 }, { rows: 8 }]);
  expect(more.map(({ endpoint_id }) => endpoint_id).toSorted((a, b) => a - b)).toEqual([
    1, 1, 1, 2, 2,
  ]);
  // Leased deliveries are not due.
  const still = await listDueEndpoints(world.tracking.pool);
  expect(still.map(({ destination, endpoint_id }) => [destination, endpoint_id])).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
});

test("a worker whose lease has ended changes nothing (P22)", async () => {
  await queue("a", 1);
  const [frozen] = await lease(TOKENS[0], { leaseMs: 0 });
  const [taker] = await lease(TOKENS[1]);
  if (frozen === undefined || taker === undefined) throw new Error("not leased");
  expect([taker.id, taker.attempts]).toEqual([frozen.id, 2]);
  expect(await settleDelivery(world.tracking.pool, frozen, DELIVERED)).toBe("stale");
  expect(await world.tracking.rows("select status, lease_token from delivery")).toEqual([
    { status: "pending", lease_token: TOKENS[1] },
  ]);
  expect(await settleDelivery(world.tracking.pool, taker, DELIVERED)).toBe("settled");
  expect(await settleDelivery(world.tracking.pool, taker, DELIVERED)).toBe("stale");
});

test("a dead worker's delivery is sent by another one after its lease", async () => {
  const offerId = await world.tracking.addOffer();
  await world.addPostback(offerId);
  const id = await world.convert(offerId);
  expect(await lease(TOKENS[0], { leaseMs: 500 })).toHaveLength(1);
  world.startLane();
  expect(await world.settled(id)).toMatchObject([{ status: "delivered", attempts: 2 }]);
});

test("a conversion approved again while its postback is leased is sent (T11)", async () => {
  const offerId = await world.tracking.addOffer();
  await world.addPostback(offerId);
  const id = await world.convert(offerId);
  await world.setStatus(id, "rejected");
  const [held] = await lease(TOKENS[0]);
  if (held === undefined) throw new Error("not leased");
  await world.setStatus(id, "approved");
  const rejected = {
    ...DELIVERED,
    status: "failed",
    error: "conversion rejected",
    is_sent: false,
  } as const;
  expect(await settleDelivery(world.tracking.pool, held, rejected)).toBe("due");
  world.startLane();
  expect(await world.settled(id)).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("25 failed deliveries in a row disable a postback with a reason; one success resets (G126)", async () => {
  const offerId = await world.tracking.addOffer();
  const postback = await world.addPostback(offerId);
  const state = async () =>
    (
      await world.tracking.rows(
        "select status, disabled_reason, failed_in_row from postback where id = $1",
        [postback],
      )
    )[0];
  const one = async (status: number) => {
    world.receiver.answer((response) => response.writeHead(status).end());
    await world.settled(await world.convert(offerId));
  };
  world.startLane({ waitsMs: [] });
  await one(500);
  expect(await state()).toMatchObject({ status: "active", failed_in_row: 1 });
  await one(200);
  expect(await state()).toMatchObject({ status: "active", failed_in_row: 0 });
  for (let i = 0; i < 24; i += 1) await one(500);
  expect(await state()).toMatchObject({ status: "active", failed_in_row: 24 });
  await one(500);
  expect(await state()).toMatchObject({
    status: "disabled",
    disabled_reason:
      "25 deliveries in a row failed, the last one with: HTTP 500 Internal Server Error",
  });
  expect(await world.deliveries(await world.convert(offerId))).toEqual([]);
  await world.tracking.rows("update postback set status = 'active' where id = $1", [postback]);
  expect(await state()).toEqual({ status: "active", disabled_reason: "", failed_in_row: 0 });
});

test("queued deliveries of a paused or deleted postback are not sent", async () => {
  const offerId = await world.tracking.addOffer();
  const [paused, gone] = [await world.addPostback(offerId), await world.addPostback(offerId)];
  const id = await world.convert(offerId);
  await world.tracking.rows("update postback set status = 'paused' where id = $1", [paused]);
  await world.tracking.rows("delete from postback where id = $1", [gone]);
  world.startLane();
  expect((await world.settled(id)).map(({ error }) => error)).toEqual([
    "postback is paused",
    "endpoint was deleted",
  ]);
  expect(world.arrived(`o${offerId}`)).toEqual([]);
});

test("slots are shared by host and port of the configured URL (P23)", async () => {
  const offerId = await world.tracking.addOffer();
  const urls = {
    "http://A.example/x": "a.example",
    "HTTPS://a.example:8443?c={click_id}": "a.example:8443",
    "http://user:pw@a.example/": "a.example",
    "http://{sub1}.a.example/": "{sub1}.a.example",
    "{sub1}": "",
  };
  for (const url of Object.keys(urls)) await world.addPostback(offerId, { url });
  const rows = await world.tracking.rows(
    "select url, destination from postback where offer_id = $1 order by id",
    [offerId],
  );
  expect(rows).toEqual(Object.entries(urls).map(([url, destination]) => ({ url, destination })));
});

test("a lease finds due deliveries behind 2,000 endpoints and 100,000 waiting ones (P23)", async () => {
  await world.tracking.rows(
    `insert into delivery (workspace_id, kind, endpoint_id, destination, facts, due_at)
     select 1, 'postback', i % 2000, 'host-' || (i % 1000), '{}', now() + interval '1 hour'
     from generate_series(1, 100000) as i`,
  );
  await world.tracking.rows("analyze delivery");
  await leaseOther("z");
  expect(await fastestMs(1_000, async () => await leaseOther("z"))).toBeLessThan(1_000);
});

test("a lease finds due deliveries behind 100,000 due ones of another endpoint (P23, #20, G204)", async () => {
  await queue("a", 100_000, 1);
  await world.tracking.rows("analyze delivery");
  await leaseOther("a");
  expect(await fastestMs(1_000, async () => await leaseOther("a"))).toBeLessThan(1_000);
});

/** Queues one delivery of another endpoint and leases it. */
async function leaseOther(destination: string): Promise<void> {
  await queue(destination, 1, 5_000);
  const leased = await lease(TOKENS[0]);
  expect(leased.filter(({ endpoint_id }) => endpoint_id === 5_000)).toHaveLength(1);
}

test("an idle worker leaves nothing at the signal of its process", async () => {
  const { signal } = new AbortController();
  const { pool } = world.tracking;
  let queries = 0;
  const counting: typeof pool = {
    ...pool,
    query: (statement) => {
      queries += 1;
      return pool.query(statement);
    },
  };
  const lane = deliveryLane({ pool: counting }, { signal });
  await until("ten idle rounds", () => queries > 10);
  await lane.close();
  expect(dependentSignals(signal)).toBe(1);
});

test("a delivery that cannot be prepared or is too late to be sent loses no attempt (G126)", async () => {
  await queue("a", 1);
  const { pool } = world.tracking;
  const kind: DeliveryKind = {
    ...postbackKind([]),
    prepare: () => Promise.reject(new Error("the store is away")),
  };
  const lane = deliveryLane({ pool }, { kinds: [kind] });
  const state = () =>
    world.tracking.rows("select attempts, lease_token, due_at > now() as waits from delivery");
  const givenBack = [{ attempts: 0, lease_token: null, waits: true }];
  await expect.poll(state).toEqual(givenBack);
  await lane.close();
  await world.tracking.rows("update delivery set due_at = now()");
  const [late] = await lease(TOKENS[0]);
  if (late === undefined) throw new Error("not leased");
  const metrics = deliveryMetrics(new Metrics(), {
    underWay: () => 0,
    depth: () => 0,
    lateSeconds: () => 0,
  });
  const deps = { pool, metrics, log: testLog(), clock: systemClock };
  const { signal } = new AbortController();
  const outgoing = { attempt: () => Promise.reject(new Error("is not sent")) };
  const how = { kind, lease: { fromMs: performance.now() - 11_000, ms: 30_000 } };
  const request = { url: new URL("http://x/"), method: "GET" as const, headers: {} };
  await deliver({ ...deps, signal, outgoing, settlements: shareSettlements(pool) }, late, {
    ...how,
    prepared: { kind: "send", request },
  });
  expect(await state()).toEqual(givenBack);
});

test("metrics show depth, delay and attempts by result", async () => {
  const offerId = await world.tracking.addOffer();
  await world.addPostback(offerId, { url: "http://127.0.0.1:1/" });
  await world.convert(offerId);
  await world.tracking.rows("update delivery set due_at = now() - interval '1 minute'");
  await queue("z", 3);
  world.startLane({ waitsMs: [3_600_000] });
  const shown = await until("the queue was measured and an attempt counted", () => {
    const text = world.metrics.render();
    return /delivery_queue_depth \d/.test(text) && /result="retrying"\} 1/.test(text) && text;
  });
  expect(shown).toMatch(/^tracker_delivery_queue_depth [1-4]$/m);
  expect(shown).toMatch(/^tracker_delivery_oldest_due_seconds \d/m);
  expect(shown).toContain('delivery_attempts_total{kind="postback",result="retrying"} 1');
});
