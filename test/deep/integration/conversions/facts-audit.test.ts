import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { startFacts } from "../../../../processors/facts/start.ts";
import { FactsAudit } from "../../../../processors/schedule/facts-audit.ts";
import { openLog } from "../../../../schemas/host/log.ts";
import { Metrics } from "../../../../schemas/host/metrics.ts";
import { runCommandOn } from "../../../integration/api/run-tracker.ts";
import { TrackingWorld } from "../../../integration/conversions/tracking-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { metricIn } from "../../../services/metric-at.ts";
import { until } from "../../../system/until.ts";

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

const Shown = z.object({
  found: z.array(z.object({ records: z.array(z.object({ kind: z.string() })) })),
});

const world = await forThisFile(TrackingWorld.open());
let relay: { close(): Promise<void> } = startRelay();
afterAll(() => relay.close());
const metrics = new Metrics();
const audit = startAudit(metrics);
await recordConversions(60);
await recordAdCosts(40);
await untilCopied();

function deps(): Parameters<typeof startFacts>[0] {
  return {
    pool: world.pool,
    clickhouse: world.clickhouse,
    log: openLog({ process: "test", level: "silent" }),
    metrics: new Metrics(),
    signal: NEVER,
  };
}

function startRelay(): { close(): Promise<void> } {
  return startFacts(deps());
}

function startAudit(own: Metrics): FactsAudit {
  return new FactsAudit({ ...deps(), metrics: own }, HOUR_MS);
}

/** Inserts into Postgres, with the outbox row in the same statement, as the functions of the service do. */
async function recordConversions(count: number): Promise<void> {
  const offerId = await world.addOffer();
  await world.rows(
    `with recorded as (
       insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private, status,
         revenue, payout, sale_amount, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts, holds_click,
         holds_txid)
       select gen_random_uuid(), $1, $2, $3, $4, 1, 'sale', i % 7 = 0, (array['approved', 'pending', 'rejected'])[i % 3 + 1],
         i + 0.0001, i / 3.0, i * 10, (array['USD', 'EUR'])[i % 2 + 1], 'cpa', 1, 'rpa', 1, 's2s',
         date_trunc('milliseconds', now() - i * interval '71 minutes'), false, false
       from generate_series(1, $5) i returning id)
     insert into conversion_fact_outbox (conversion_id) select id from recorded`,
    [world.workspaceId, offerId, world.affiliateId, world.advertiserId, count],
  );
}

async function recordAdCosts(count: number): Promise<void> {
  await world.rows(
    `with written as (
       insert into ad_cost (workspace_id, date, hour, traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount)
       select $1, current_date - i / 10, nullif(i % 24, 0), 'google', i::text, '', 'USD', i + 0.5
       from generate_series(1, $2) i returning id)
     insert into ad_cost_fact_outbox (ad_cost_id) select id from written`,
    [world.workspaceId, count],
  );
}

async function untilCopied(): Promise<void> {
  const waiting =
    "select 1 as waits from conversion_fact_outbox union all select 1 from ad_cost_fact_outbox limit 1";
  await until("every change has been copied", async () => (await world.rows(waiting)).length === 0);
}

const CONVERSION = "id, version, status, offer_id, revenue, payout, sale_amount, currency";
const AD_COST = "id, version, currency, amount";

async function copies(table: string, columns: string): Promise<unknown[]> {
  const answer = await world.clickhouse.query({
    query: `select ${columns} from ${table} final order by toString(id)`,
    format: "JSONEachRow",
    clickhouse_settings: { output_format_decimal_trailing_zeros: 1 },
  });
  return await answer.json();
}

/** Differences between records and copies, read by statements of this test. */
async function differences(): Promise<{ conversions: unknown; records: unknown; costs: unknown }> {
  const [conversions, costs] = [
    await copies("conversion_fact", CONVERSION),
    await copies("ad_cost_fact", AD_COST),
  ];
  const records = await world.rows(
    `select ${CONVERSION} from conversion order by id::text collate "C"`,
  );
  const recorded = await world.rows(`select ${AD_COST} from ad_cost order by id::text collate "C"`);
  return {
    conversions: records.filter((row, i) => JSON.stringify(row) !== JSON.stringify(conversions[i])),
    records: conversions.length - records.length,
    costs: [
      costs.length - recorded.length,
      recorded.filter((row, i) => JSON.stringify(row) !== JSON.stringify(costs[i])),
    ],
  };
}
const NONE = { conversions: [], records: 0, costs: [0, []] };

async function destroy(query: string): Promise<void> {
  await world.clickhouse.command({
    query,
    clickhouse_settings: { lightweight_deletes_sync: "2", mutations_sync: "2" },
  });
}

/** Audits all days. */
async function auditAll(): Promise<number> {
  await world.rows(
    "update fact_audit set run = run + 1, position = null, found = 0 where scope = 'all'",
  );
  return await audit.round(NEVER);
}

async function tracker(...args: string[]): ReturnType<typeof runCommandOn> {
  return await runCommandOn(world, args);
}

test("the audit finds nothing while both stores agree, and tracker audit reports that (#2)", async () => {
  expect(await differences()).toEqual(NONE);
  expect(await auditAll()).toBe(0);
  const { result } = await tracker("audit");
  expect(result).toMatch(/^facts +equal +conversions and ad costs$/m);
});

test("facts that ClickHouse lost are restored by the audit (#2, P5)", async () => {
  await destroy("delete from conversion_fact where cityHash64(id) % 3 = 0");
  await destroy("delete from ad_cost_fact where id % 4 = 0");
  const before = await differences();
  expect(before).not.toEqual(NONE);
  expect(await auditAll()).toBeGreaterThan(20);
  await untilCopied();
  expect(await differences()).toEqual(NONE);
  expect(await auditAll()).toBe(0);
  expect(metrics.render()).toMatch(
    /facts_audit_differences_total\{table="conversion_fact",kind="missing"\} [1-9]/,
  );
});

test("an older version in ClickHouse is replaced by the newest one (#2)", async () => {
  await world.rows(
    "update conversion set version = version + 1, revenue = revenue + 1 where revenue > 30",
  );
  await world.rows(
    "update ad_cost set version = version + 1, amount = amount + 1 where amount > 30",
  );
  expect(await auditAll()).toBe(31 + 11);
  await untilCopied();
  expect(await differences()).toEqual(NONE);
});

test("changed money, swapped values and versions ahead of Postgres are repaired (#2)", async () => {
  const [one, other] = await world.rows(
    "select id, revenue from conversion where currency = 'USD' order by revenue desc limit 2",
  );
  // The sums of the day do not change.
  await destroy(`alter table conversion_fact update revenue = multiIf(id = '${String(one?.["id"])}', ${String(other?.["revenue"])},
    id = '${String(other?.["id"])}', ${String(one?.["revenue"])}, revenue) where 1`);
  await destroy(
    "alter table conversion_fact update payout = payout + 0.0001 where revenue = 12.0001",
  );
  await destroy("alter table ad_cost_fact update amount = amount + 0.0001 where id = 7");
  // As after a restore of Postgres.
  await world.rows(
    "update conversion set version = 1, revenue = revenue - 1 where version = 2 and revenue > 55",
  );
  expect(await auditAll()).toBeGreaterThanOrEqual(4);
  await untilCopied();
  expect(await differences()).toEqual(NONE);
  expect(await auditAll()).toBe(0);
});

test("ghosts are reported, and only tracker audit --repair deletes them, at once for reports (#2)", async () => {
  await destroy(`insert into conversion_fact (workspace_id, conv_ts, id, version, offer_id, status, revenue, currency)
    select ${world.workspaceId}, now64(3) - toIntervalDay(number), generateUUIDv4(), 3, 77, 'approved', 12.5, 'USD' from numbers(5)`);
  await destroy(`insert into ad_cost_fact (workspace_id, wall_time, id, version, currency, amount)
    select ${world.workspaceId}, toStartOfDay(now('UTC')), 900000 + number, 1, 'USD', 1 from numbers(3)`);
  expect(await auditAll()).toBe(8);
  await untilCopied();
  expect(await differences()).toMatchObject({ records: 5 });

  const reported = await tracker("audit");
  expect(reported.isWell).toBe(false);
  expect(reported.result).toContain("1 ghost");
  expect(reported.result).toContain("8 records differ.");
  const since = new Date().toISOString().slice(0, 10);
  const json = Shown.parse(JSON.parse((await tracker("audit", "--since", since, "--json")).result));
  expect(json.found.flatMap(({ records }) => records.map(({ kind }) => kind))).toEqual(
    Array.from({ length: 4 }, () => "ghost"),
  );

  const repaired = await tracker("audit", "--repair");
  expect(repaired.result).toMatch(/^facts +equal +8 records repaired$/m);
  expect(repaired.lines).toHaveLength(8);
  expect(repaired.lines[0]).toMatch(
    /^ghost [0-9a-f-]{36} of conversion_fact, workspace \d+, .*: revenue 12.5000, payout/,
  );
  expect(await differences()).toEqual(NONE);
});

test("a change that waits for its copy is no difference (#2)", async () => {
  await relay.close();
  await recordConversions(5);
  expect(await auditAll()).toBe(0);
  expect(await world.rows("select id from conversion_fact_outbox")).toHaveLength(5);
  relay = startRelay();
  await untilCopied();
  expect(await differences()).toEqual(NONE);
});

test("no difference is found while conversions are recorded and changed (#2)", async () => {
  const stop = new AbortController();
  const traffic = (async () => {
    while (!stop.signal.aborted) {
      await recordConversions(20);
      await world.rows(`with changed as (
          update conversion set version = version + 1, payout = payout + 1
          where id in (select id from conversion order by random() limit 20) returning id)
        insert into conversion_fact_outbox (conversion_id) select id from changed`);
    }
  })();
  let found = 0;
  try {
    for (let round = 0; round < 8; round += 1) found += await auditAll();
  } finally {
    stop.abort();
    await traffic;
  }
  expect(found).toBe(0);
  await untilCopied();
  expect(await differences()).toEqual(NONE);
});

test("a store that went back to an older state is detected, and everything compared (#2, G206)", async () => {
  const hasGoneBack = (store: string): boolean =>
    metricIn(metrics.render(), `facts_store_went_back_total{store="${store}"}`) > 0;
  await audit.round(NEVER);
  expect([hasGoneBack("clickhouse"), hasGoneBack("postgres")]).toEqual([false, false]);
  const [before] = await world.rows(
    "select confirmed_number, confirmed_token, pending_number, pending_token from fact_mark",
  );
  await destroy("alter table fact_mark delete where 1");
  await destroy("delete from conversion_fact where cityHash64(id) % 5 = 0");
  expect(await audit.round(NEVER)).toBeGreaterThan(0);
  expect([hasGoneBack("clickhouse"), hasGoneBack("postgres")]).toEqual([true, false]);
  await audit.round(NEVER);
  await world.rows(
    "update fact_mark set (confirmed_number, confirmed_token, pending_number, pending_token) = ($1, $2, $3, $4)",
    Object.values(before ?? {}),
  );
  await audit.round(NEVER);
  expect(hasGoneBack("postgres")).toBe(true);
  await untilCopied();
  expect(await differences()).toEqual(NONE);
});
