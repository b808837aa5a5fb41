import { afterAll, beforeAll, expect, test } from "vitest";
import { startFacts } from "../../../processors/facts/start.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { TrackingWorld } from "./tracking-world.ts";

const WITHIN_5_S = { timeout: 5_000, interval: 50 };

let world: TrackingWorld;
let gate: TcpGate;
let relays: { close(): Promise<void> }[];
beforeAll(async () => {
  world = await TrackingWorld.open();
  world.startWriters();
  const url = world.env.CLICKHOUSE_URL;
  gate = await TcpGate.open(url);
  const clickhouse = openClickhouse({ url: gate.urlOf(url), applicationName: "test" });
  relays = [1, 2].map(() =>
    startFacts({
      pool: world.pool,
      clickhouse,
      log: openLog({ process: "test", level: "silent" }),
      metrics: new Metrics(),
      signal: new AbortController().signal,
    }),
  );
  await world.nats.connection.flush();
});
afterAll(async () => {
  await Promise.all(relays.map((relay) => relay.close()));
  await gate.shut();
  await world.close();
});

const MONEY =
  "id, version, status, status_reason, offer_id, affiliate_id, event_code, revenue, payout, sale_amount, currency";

async function facts(): Promise<unknown[]> {
  const answer = await world.clickhouse.query({
    query: `select ${MONEY} from conversion_fact final order by toString(id)`,
    format: "JSONEachRow",
    clickhouse_settings: { output_format_decimal_trailing_zeros: 1 },
  });
  return await answer.json();
}

async function conversions(): Promise<unknown[]> {
  return await world.rows(`select ${MONEY} from conversion order by id`);
}

test("conversions and changes are in ClickHouse within 5 s, equal to the ten-thousandth (G191)", async () => {
  const offerId = await world.addOffer({
    payout_type: "cps",
    payout: "7.7777",
    revenue_type: "rps",
    revenue: "31.13",
  });
  const clicks = Array.from({ length: 100 }, () =>
    world.addYoungClick({ offer_id: offerId, sub1: "s", country: "DE" }),
  );
  const replies = await Promise.all(
    clicks.map((click, i) =>
      world.report({ click_id: click.click_id, amount: `${i}.0001`, txid: `t${i}` }),
    ),
  );
  await Promise.all(
    replies
      .slice(0, 50)
      .map((reply) =>
        world.report({ conversion_id: String(reply.body["conversion_id"]), status: "rejected" }),
      ),
  );
  const expected = await conversions();
  expect(expected).toHaveLength(100);
  await expect.poll(facts, WITHIN_5_S).toEqual(expected);
  const answer = await world.clickhouse.query({
    query: "select distinct sub1, country, link_type from conversion_fact",
    format: "JSONEachRow",
  });
  expect(await answer.json()).toEqual([{ sub1: "s", country: "DE", link_type: "affiliate" }]);
  await expect
    .poll(async () => await world.rows("select id from conversion_fact_outbox"), WITHIN_5_S)
    .toEqual([]);
});

test("changes wait in Postgres while ClickHouse is unreachable, and arrive afterwards (P4)", async () => {
  await gate.shut();
  const offerId = await world.addOffer();
  const click = world.addYoungClick({ offer_id: offerId });
  const reply = await world.report({ click_id: click.click_id });
  await world.report({ conversion_id: String(reply.body["conversion_id"]), status: "pending" });
  expect(await world.rows("select id from conversion_fact_outbox")).toHaveLength(2);
  await gate.open();
  await expect.poll(facts, { timeout: 15_000, interval: 50 }).toEqual(await conversions());
});

test("a dead relay's lease that a wrong clock made an hour too long delays no copy (#11)", async () => {
  const lease = "select owner from fact_relay_lease";
  await world.rows(
    "update fact_relay_lease set owner = 'dead', expires_at = now() + interval '1 hour'",
  );
  await expect
    .poll(async () => await world.rows(lease), WITHIN_5_S)
    .not.toEqual([{ owner: "dead" }]);
});

test("a repeated copy changes nothing (G191)", async () => {
  const before = await facts();
  await world.rows("insert into conversion_fact_outbox (conversion_id) select id from conversion");
  await expect
    .poll(async () => await world.rows("select id from conversion_fact_outbox"), WITHIN_5_S)
    .toEqual([]);
  expect(await facts()).toEqual(before);
});

async function adCosts(): Promise<unknown[]> {
  const answer = await world.clickhouse.query({
    query:
      "select id, version, amount, offer_id, formatDateTime(wall_time, '%F %T') as at from ad_cost_fact final order by id",
    format: "JSONEachRow",
    clickhouse_settings: {
      output_format_decimal_trailing_zeros: 1,
      output_format_json_quote_64bit_integers: 0,
    },
  });
  return await answer.json();
}

async function changeAdCosts(amount: string): Promise<void> {
  await world.rows(`with written as (
      insert into ad_cost (workspace_id, date, hour, traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount)
      select (select min(id) from workspace), date '1970-01-01' + 30 * i, nullif(i % 24, 0), '', '', '', 'USD', ${amount}
      from generate_series(1, 1500) i
      on conflict on constraint ad_cost_key do update set amount = excluded.amount, version = ad_cost.version + 1
      returning id)
    insert into ad_cost_fact_outbox (ad_cost_id) select id from written`);
}

test("ad costs are copied, also after an outage; a repeated copy changes nothing (G75, P4)", async () => {
  const stored = async (): Promise<unknown[]> =>
    await world.rows(`select id, version, amount, coalesce(offer_id, 0) as offer_id,
      to_char(date + coalesce(hour, 0) * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS') as at from ad_cost order by id`);
  const waiting = async (): Promise<unknown[]> =>
    await world.rows("select id from ad_cost_fact_outbox");
  await changeAdCosts("1.0001");
  expect(await stored()).toHaveLength(1_500);
  await expect.poll(adCosts, WITHIN_5_S).toEqual(await stored());
  await gate.shut();
  await changeAdCosts("2.5");
  await gate.open();
  await expect.poll(adCosts, { timeout: 15_000, interval: 50 }).toEqual(await stored());
  await world.rows("insert into ad_cost_fact_outbox (ad_cost_id) select id from ad_cost");
  await expect.poll(waiting, WITHIN_5_S).toEqual([]);
  expect(await adCosts()).toEqual(await stored());
});
