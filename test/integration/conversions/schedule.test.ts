import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { longestWindowDays } from "../../../processors/schedule/longest-visitor-window.ts";
import {
  type ScheduleDeps,
  type ScheduleSettings,
  startSchedule,
} from "../../../processors/schedule/start.ts";
import { finishTask, leaseTask } from "../../../processors/schedule/tasks.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { findFxFeed } from "../../../schemas/postgres/fx-feed.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { metricIn } from "../../services/metric-at.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { statusCommand } from "./staff-commands.ts";
import { TrackingWorld } from "./tracking-world.ts";

const SOON = { timeout: 5_000, interval: 20 };
/** The lease of an audit is two minutes. */
const AGAIN = { timeout: 20_000, interval: 50 };
const SECOND_IN_DAYS = 1 / 86_400;
const running: { close(): Promise<void> }[] = [];

const world = await forThisFile(TrackingWorld.open());
afterEach(async () => {
  await Promise.all(running.splice(0).map((schedule) => schedule.close()));
  await world.rows("delete from schedule_task");
});

function start(settings: ScheduleSettings = {}, own: Partial<ScheduleDeps> = {}): void {
  const log = openLog({ process: "test", level: "silent" });
  const { signal } = new AbortController();
  const deps = {
    pool: world.pool,
    clickhouse: world.clickhouse,
    nats: world.nats,
    log,
    metrics: new Metrics(),
    signal,
    ...own,
  };
  running.push(startSchedule(deps, { taskTickMs: 50, ...settings }));
}

async function held(
  fields: Record<string, unknown> = {},
  params: Record<string, string> = {},
): Promise<string> {
  const offerId = await world.addOffer({ hold_days: (2 * SECOND_IN_DAYS).toFixed(6), ...fields });
  const click = await world.addClick({ offer_id: offerId });
  const { body } = await world.report({ click_id: click.click_id, ...params });
  expect(body).toMatchObject({ status: "pending", reason: "hold" });
  return String(body["conversion_id"]);
}

test("a hold ends within 2 s, with its history and its copy for reports (LIFE-012, G98, P18)", async () => {
  const id = await held();
  const [before] = await world.rows("select max(id) as id from conversion_fact_outbox");
  start();
  start();
  await expect.poll(async () => (await world.conversion(id))["status"], SOON).toBe("approved");
  expect(await world.conversion(id)).toMatchObject({
    status_reason: "",
    hold_until: null,
    version: 2,
  });
  const history = await world.rows<{ late_ms: number }>(
    `select h.actor, h.from_status, h.to_status, h.reason,
       (extract(epoch from h.at - c.conv_ts) * 1000)::bigint - 2000 as late_ms
     from conversion_history h join conversion c on c.id = h.conversion_id
     where h.conversion_id = $1 order by h.id desc limit 1`,
    [id],
  );
  expect(history).toMatchObject([
    { actor: "hold", from_status: "pending", to_status: "approved", reason: "" },
  ]);
  expect(history[0]?.late_ms).toBeGreaterThanOrEqual(-20);
  expect(history[0]?.late_ms).toBeLessThan(2_000);
  expect(
    await world.rows("select conversion_id from conversion_fact_outbox where id > $1", [
      before?.["id"],
    ]),
  ).toEqual([{ conversion_id: id }]);
});

test("a decision during the hold stays; a changed amount does not stop the release (LIFE-013, T03)", async () => {
  const terms = { payout_type: "cps", payout: "10", revenue_type: "rps", revenue: "20" };
  const [rejected, byStaff, changed] = [
    await held(),
    await held(),
    await held(terms, { amount: "100" }),
  ];
  await world.report({ conversion_id: rejected, status: "rejected" });
  await world.command(
    statusCommand(world, { ids: [byStaff], status: "pending", reason: "look at it" }),
  );
  await world.report({ conversion_id: changed, amount: "50" });
  start();
  await expect.poll(async () => (await world.conversion(changed))["status"], SOON).toBe("approved");
  expect(await world.conversion(changed)).toMatchObject({ payout: "5.0000", status_reason: "" });
  expect(await world.conversion(rejected)).toMatchObject({ status_reason: "postback_reversal" });
  expect(await world.conversion(byStaff)).toMatchObject({
    status: "pending",
    status_reason: "look at it",
  });
});

test("holds that end together are each released once by several schedulers (P18)", async () => {
  await world.rows(
    `insert into conversion (id, workspace_id, offer_id, advertiser_id, event_id, event_code, is_private, status,
       status_reason, revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts,
       hold_until, holds_click, holds_txid)
     select gen_random_uuid(), $1, $2, $3, 1, 'default', false, 'pending', 'hold', 1, 1, 'USD', 'cpa', 1, 'rpa', 1, 's2s',
       now(), now(), false, false from generate_series(1, 1500)`,
    [world.workspaceId, await world.addOffer(), world.advertiserId],
  );
  for (let i = 0; i < 3; i += 1) start({ holdTickMs: 50 });
  await expect
    .poll(() => world.rows("select id from conversion where hold_until is not null"), SOON)
    .toEqual([]);
  expect(
    await world.rows(
      "select conversion_id from conversion_history where actor = 'hold' group by conversion_id having count(*) > 1",
    ),
  ).toEqual([]);
});

test("log rows are deleted after their retention, and not before (G178, G177)", async () => {
  const days = [1, 29, 31, 399, 401];
  for (const ago of days) {
    await world.rows(
      `insert into postback_log (ts, endpoint, http_status, result) values (now() - $1::integer * interval '1 day', 'pb', 200, 'old')`,
      [ago],
    );
    await world.rows(
      `insert into audit_log (workspace_id, ts, action, status, request_id)
       values ($2, now() - $1::integer * interval '1 day', 'GET /', 200, 'r')`,
      [ago, world.workspaceId],
    );
  }
  start();
  const kept = async (table: "postback_log" | "audit_log"): Promise<number> =>
    (await world.rows(`select id from ${table} where ts < now() - interval '1 hour'`)).length;
  await expect.poll(() => kept("audit_log"), SOON).toBe(4);
  await expect.poll(() => kept("postback_log"), SOON).toBe(2);
});

test("a task done or begun by a clock a year ahead runs again today (#11)", async () => {
  const names = ["done", "begun"];
  const lease = { owner: "me", everyMs: 3_600_000, leaseMs: 60_000 };
  await world.rows(
    `insert into schedule_task (name, owner, done_at, expires_at) values
       ('done', '', now() + interval '1 year', '-infinity'), ('begun', 'dead', '-infinity', now() + interval '1 year')`,
  );
  const taken = await Promise.all(names.map((name) => leaseTask(world.pool, { name, ...lease })));
  expect(taken).toEqual([true, true]);
  // A valid lease and a task that was just done are not taken.
  await finishTask(world.pool, { name: "done", owner: "me" });
  expect(
    await Promise.all(
      names.map((name) => leaseTask(world.pool, { name, ...lease, owner: "other" })),
    ),
  ).toEqual([false, false]);
});

test("a task is not done twice because the clock of Postgres was put back by seconds (#11)", async () => {
  await world.rows(
    `insert into schedule_task (name, owner, done_at, expires_at)
     values ('done', '', now() + interval '20 seconds', '-infinity')`,
  );
  const lease = { name: "done", owner: "me", everyMs: 3_600_000, leaseMs: 60_000 };
  expect(await leaseTask(world.pool, lease)).toBe(false);
});

test("the inbound log is dropped by day, and a day without a partition keeps its rows (#19, G178)", async () => {
  const parts = async (): Promise<string[]> =>
    (
      await world.rows<{ name: string }>(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = 'postback_log'::regclass order by 1`,
      )
    ).map(({ name }) => name);
  const write = async (days: number): Promise<string | undefined> => {
    const [row] = await world.rows<{ part: string }>(
      `insert into postback_log (ts, endpoint, http_status, result) values (now() + $1::integer * interval '1 day', 'pb', 200, 'by day')
       returning tableoid::regclass::text as part`,
      [days],
    );
    return row?.part;
  };
  // The migration has made partitions for today and the next 14 days.
  expect((await parts()).length).toBe(16);
  expect(await write(0)).toMatch(/^postback_log_\d{8}$/);
  expect(await write(14)).toMatch(/^postback_log_\d{8}$/);
  expect(await write(40)).toBe("postback_log_other");
  expect(await write(-10)).toBe("postback_log_other");
  // A scheduler was stopped for long: the day already has rows, which move to its partition.
  const [today] = await world.rows<{ name: string }>(
    "select 'postback_log_' || to_char(now() at time zone 'UTC', 'YYYYMMDD') as name",
  );
  await world.rows(`drop table ${today?.name ?? ""}`);
  expect(await write(0)).toBe("postback_log_other");
  // A day that ended more than 30 days ago.
  await world.rows("create table postback_log_20200101 (like postback_log including all)");
  await world.rows(
    "alter table postback_log attach partition postback_log_20200101 for values from ('2020-01-01 00:00:00+00') to ('2020-01-02 00:00:00+00')",
  );
  start();
  await expect.poll(parts, SOON).toContain(today?.name);
  await expect.poll(parts, SOON).not.toContain("postback_log_20200101");
  const kept = async (): Promise<unknown> =>
    await world.rows(
      `select count(*) as rows, count(*) filter (where tableoid::regclass::text = $1) as today
       from postback_log where result = 'by day'`,
      [today?.name],
    );
  await expect.poll(kept, SOON).toEqual([{ rows: 4, today: 1 }]);
  // Rows of no day go when they are too old.
  await world.rows("select forget_other_postback_log(9, 100)");
  expect(await kept()).toEqual([{ rows: 3, today: 1 }]);
});

test("conversions older than CONVERSION_RETENTION_DAYS lose their visitor and nothing else (#19)", async () => {
  const offerId = await world.addOffer();
  const report = async (): Promise<string> => {
    const click = await world.addClick({ offer_id: offerId, gclid: "g", sub1: "kept" });
    const { body } = await world.report(
      { click_id: click.click_id, email: "jane@shop.example", phone: "123" },
      { ip: "203.0.113.7" },
    );
    return String(body["conversion_id"]);
  };
  const [old, young] = [await report(), await report()];
  await world.rows("update conversion set conv_ts = now() - interval '32 days' where id = $1", [
    old,
  ]);
  const [before, untouched] = [await world.conversion(old), await world.conversion(young)];
  start({ conversionRetentionDays: 31 });
  await expect.poll(async () => (await world.conversion(old))["email_hash"], SOON).toBeNull();
  expect(before["click"]).toMatchObject({ gclid: "g", sub1: "kept" });
  const { gclid: _gclid, ...click } = z.record(z.string(), z.string()).parse(before["click"]);
  expect(await world.conversion(old)).toEqual({
    ...before,
    conv_ip: null,
    email_hash: null,
    phone_hash: null,
    click,
    report_fingerprint: null,
    change_fingerprint: null,
  });
  expect(await world.conversion(young)).toEqual(untouched);
});

test("counters of caps are deleted 435 days after their period began, those of all time never (G39)", async () => {
  await world.rows(
    `insert into cap_counter (cap, bucket_start) values ('old', now() - interval '436 days'),
       ('young', now() - interval '434 days'), ('total', '-infinity')`,
  );
  start();
  const kept = (): Promise<unknown> => world.rows("select cap from cap_counter order by cap");
  await expect.poll(kept, SOON).toEqual([{ cap: "total" }, { cap: "young" }]);
});

test("ended deliveries are kept for 30 days, waiting ones until they end", async () => {
  for (const ago of [29, 31, null]) {
    await world.rows(
      `insert into delivery (workspace_id, kind, endpoint_id, destination, facts, created_at, due_at, finished_at)
       values ($1, 'postback', 1, 'partner.example', '{}', now() - interval '40 days',
         case when $2::integer is null then now() end, now() - $2::integer * interval '1 day')`,
      [world.workspaceId, ago],
    );
  }
  start();
  const kept = (): Promise<Record<string, unknown>[]> =>
    world.rows("select finished_at > now() - interval '30 days' as young from delivery order by 1");
  await expect.poll(kept, SOON).toEqual([{ young: true }, { young: null }]);
});

test("daily rates arrive once; wrong answers change only the state, manual rates stay (G76, G221)", async () => {
  const answers: { status: number; body: string }[] = [];
  const rates = (usd: string): string =>
    `<Envelope><Cube><Cube time='2026-01-02'><Cube currency='USD' rate='${usd}'/><Cube currency='CHF' rate='0.93'/></Cube></Cube></Envelope>`;
  let requests = 0;
  const feed = createServer((_request, response) => {
    const { status, body } = answers[Math.min(requests, answers.length - 1)] ?? {
      status: 500,
      body: "",
    };
    requests += 1;
    response.writeHead(status, { "content-type": "application/xml" }).end(body);
  });
  const url = await listen(feed);
  const stored = (): Promise<unknown[]> =>
    world.rows("select currency, rate, source from fx_rate order by currency");
  const fetched = async (): Promise<void> => {
    const before = requests;
    await world.rows("delete from schedule_task");
    await expect.poll(() => requests, SOON).toBe(before + 1);
  };
  await world.rows("insert into fx_rate (date, currency, rate) values ('2026-01-02', 'CHF', 0.5)");
  answers.push({ status: 200, body: rates("1.17") });
  start({ fxFeedUrl: url });
  start({ fxFeedUrl: url });
  const expected = (usd: string): unknown[] => [
    { currency: "CHF", rate: "0.5000000000", source: "manual" },
    { currency: "USD", rate: `${usd}000000000`.slice(0, 12), source: "feed" },
  ];
  await expect.poll(stored, SOON).toEqual(expected("1.17"));
  expect(requests).toBe(1);
  const read = { source: new URL(url).host, newest_day: "2026-01-02" };
  await expect.poll(() => findFxFeed(world.pool), SOON).toMatchObject({ ...read, state: "ok" });
  answers.splice(0, 1, { status: 503, body: "" }, { status: 503, body: "" });
  await fetched();
  expect(await stored()).toEqual(expected("1.17"));
  const failed = { ...read, state: "failed", error: "it answered HTTP 503" };
  await expect.poll(() => findFxFeed(world.pool), SOON).toMatchObject(failed);
  answers.push({ status: 200, body: "<html>moved</html>" });
  await fetched();
  expect(await stored()).toEqual(expected("1.17"));
  answers.push({ status: 200, body: rates("1.18") });
  await fetched();
  await expect.poll(stored, SOON).toEqual(expected("1.18"));
  await new Promise((resolve) => feed.close(resolve));
});

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(
        `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`,
      );
    });
  });
}

test("clicks older than CLICK_RETENTION_DAYS lose their visitor and still convert", async () => {
  const offerId = await world.addOffer({});
  const described = { offer_id: offerId, ip: "203.0.113.7", user_agent: "Browser", sub1: "kept" };
  const old = await world.addClick({ ...described, ageMs: 100 * DAY_MS });
  const young = await world.addClick(described);
  start({ clickRetentionDays: 31 });
  const addresses = async (): Promise<unknown> => {
    const answer = await world.clickhouse.query({
      query: `select lower(hex(click_id)) as id, ip, user_agent, sub1 from click where offer_id = {offer:UInt32} order by ts`,
      query_params: { offer: offerId },
      format: "JSONEachRow",
    });
    return await answer.json();
  };
  await expect.poll(addresses, SOON).toEqual([
    { id: old.click_id, ip: "", user_agent: "", sub1: "kept" },
    { id: young.click_id, ip: "203.0.113.7", user_agent: "Browser", sub1: "kept" },
  ]);
  const { body } = await world.report({ click_id: old.click_id });
  expect(body).toMatchObject({ ok: true });
  const id = String(body["conversion_id"]);
  expect(await world.conversion(id)).toMatchObject({ offer_id: offerId, click_id: old.click_id });
});

test("visitors of clicks are kept for the longest window of any offer, whatever the retention (#3)", async () => {
  await world.addOffer({ unique_click_hours: 2_000 });
  expect(await longestWindowDays(world.pool)).toBe(84);
  await world.addOffer({ duplicate_click_seconds: 100 * 86_400 });
  expect(await longestWindowDays(world.pool)).toBe(100);
});

test("an audit that failed without ClickHouse is repeated as soon as it is back (#2, #12, P38)", async () => {
  const gate = await TcpGate.open(world.env.CLICKHOUSE_URL);
  await gate.shut();
  const clickhouse = openClickhouse({
    url: gate.urlOf(world.env.CLICKHOUSE_URL),
    applicationName: "test schedule",
  });
  const metrics = new Metrics();
  running.push({ close: () => clickhouse.close() });
  start({}, { clickhouse, metrics });
  const metric = (name: string): number =>
    metricIn(metrics.render(), `${name}{task="facts-audit"}`);
  await expect.poll(() => metric("schedule_failures_total"), SOON).toBeGreaterThan(0);
  const startedAtSeconds = metric("schedule_last_success_seconds");
  // If the process died now, the next one would have to wait for its lease.
  const [lease] = await world.rows<{ seconds: string }>(
    `select extract(epoch from expires_at - clock_timestamp()) as seconds
     from schedule_task where name = 'facts-audit'`,
  );
  expect(Number(lease?.seconds)).toBeLessThanOrEqual(30);
  await gate.open();
  try {
    await expect
      .poll(() => metric("schedule_last_success_seconds"), AGAIN)
      .toBeGreaterThan(startedAtSeconds);
  } finally {
    await gate.shut();
  }
});
