import { afterEach, beforeEach, expect, test } from "vitest";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { metricIn } from "../../services/metric-at.ts";
import { until } from "../../system/until.ts";
import { Books } from "./books.ts";

let books: Books;
beforeEach(async () => {
  books = await Books.open();
});
afterEach(() => books.close());

/** Balances of an amount earned by a partner and charged to the advertiser. */
function standing(payout: string, revenue: string, partner = books.partners[0]) {
  return {
    [`advertiser_receivable ${books.advertiserId} EUR`]: revenue,
    "payout_cost EUR": payout,
    "revenue EUR": `-${revenue}`,
    [`partner_payable ${partner} EUR`]: `-${payout}`,
  };
}

/** How many conversions the entries of a kind of account say there are. */
async function counted(kind: string): Promise<unknown> {
  return await books.rows(
    `select sum(e.count)::integer as count, count(*)::integer as entries
     from ledger_entry e join ledger_account a on a.id = e.account_id where a.kind = $1`,
    [kind],
  );
}

test("a conversion is posted while it is approved, by the difference of each change (N39, N41)", async () => {
  await books.enable();
  const lane = books.startLane();
  const id = await books.convert({ status: "pending" });
  await books.convert({ status: "rejected" });
  await books.untilPosted();
  expect(await books.balances()).toEqual({});
  await books.change(id, { status: "approved" });
  await books.untilPosted();
  expect(await books.balances()).toEqual(standing("10.0000", "15.0000"));
  await books.change(id, { payout: "7.5001", revenue: "20" });
  await books.untilPosted();
  expect(await books.balances()).toEqual(standing("7.5001", "20.0000"));
  expect(await counted("partner_payable")).toEqual([{ count: 1, entries: 2 }]);
  await books.change(id, { status: "rejected" });
  await books.untilPosted();
  expect(await books.balances()).toEqual({});
  expect(await counted("partner_payable")).toEqual([{ count: 0, entries: 3 }]);
  await books.change(id, { status: "approved", payout: "1" });
  await books.untilPosted();
  expect(await books.balances()).toEqual(standing("1.0000", "20.0000"));
  expect(await counted("revenue")).toEqual([{ count: 1, entries: 4 }]);
  expect(await books.audit()).toEqual([]);
  expect(metricIn(lane.metrics.render(), 'ledger_posted_total{kind="conversion"}')).toBe(4);
});

test("a conversion without a partner posts its revenue and no payout (N41)", async () => {
  await books.enable();
  books.startLane();
  const id = await books.convert({ affiliate_id: null });
  await books.convert({ affiliate_id: null, revenue: "0" });
  await books.change(id, { payout: "20" });
  await books.untilPosted();
  expect(await books.balances()).toEqual({
    [`advertiser_receivable ${books.advertiserId} EUR`]: "15.0000",
    "revenue EUR": "-15.0000",
  });
  expect(await books.audit()).toEqual([]);
});

test("several lanes post each change once, also when it is queued twice (N39)", async () => {
  await books.enable();
  for (let lane = 0; lane < 4; lane += 1) books.startLane();
  const ids = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      books.convert({ affiliate_id: books.partners[index % 2] ?? null }),
    ),
  );
  await Promise.all(ids.slice(0, 100).map((id) => books.change(id, { payout: "11" })));
  const again = (): Promise<unknown> =>
    books.rows(
      `insert into ledger_outbox (workspace_id, history_id)
       select $1, id from conversion_history order by random() on conflict do nothing`,
      [books.workspaceId],
    );
  await again();
  await books.untilPosted();
  await again();
  await books.untilPosted();
  expect(await books.balances()).toMatchObject({
    "payout_cost EUR": "2100.0000",
    "revenue EUR": "-3000.0000",
  });
  expect(await counted("payout_cost")).toEqual([{ count: 200, entries: 300 }]);
  expect(await books.audit()).toEqual([]);
});

test("a lane that is killed while it posts leaves the change to the next one (N39)", async () => {
  await books.enable();
  await books.convert();
  const first = books.startLane();
  await books.untilPosted();
  await first.close();
  const victim = openPool({ url: books.database.postgresUrl, applicationName: "victim" });
  await inTransaction(books.pool, async (tx) => {
    // The lane waits for the balances in the middle of its posting.
    await tx.query({
      text: "select account_id from ledger_balance order by account_id for update",
    });
    await books.convert();
    const lane = books.startLane(victim);
    await until("the lane waits", async () => {
      const rows = await books.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'victim' and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    const closing = lane.close();
    await closing;
  });
  expect(await books.rows("select history_id from ledger_outbox")).toHaveLength(1);
  books.startLane();
  await books.untilPosted();
  expect(await books.balances()).toEqual(standing("20.0000", "30.0000"));
  expect(await books.audit()).toEqual([]);
  await victim.end();
});

test("nothing is queued or posted while billing is off (N2, N36)", async () => {
  const lane = books.startLane();
  const id = await books.convert();
  await books.change(id, { payout: "12" });
  expect(await books.rows("select history_id from ledger_outbox")).toEqual([]);
  await books.enable();
  await books.untilPosted();
  await books.disable();
  await books.change(id, { status: "rejected" });
  expect(await books.rows("select history_id from ledger_outbox")).toEqual([]);
  expect(await books.balances()).toEqual(standing("12.0000", "15.0000"));
  // Switched on again, what was missed is posted.
  await books.enable();
  await books.untilPosted();
  expect(await books.balances()).toEqual({});
  expect(await books.audit()).toEqual([]);
  expect(metricIn(lane.metrics.render(), "ledger_behind_seconds")).toBeLessThan(5);
});

test("what was recorded around the switch is posted, also by a transaction from before it (N36)", async () => {
  books.startLane();
  await books.convert();
  await inTransaction(books.pool, async (tx) => {
    // Takes its number before the switch, and looks before it.
    await tx.query({
      text: `insert into conversion select t.* from conversion c,
        jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid())) t`,
    });
    await tx.query({
      text: `select after_conversion_change(null, c, 'api', null) from conversion c
             where not exists (select from conversion_history h where h.conversion_id = c.id)`,
    });
    await books.enable();
    await until("the lane has seen the switch", async () => {
      const rows = await books.rows(
        "select workspace_id from billing_settings where backfill_xid is not null",
      );
      return rows.length > 0;
    });
    await books.convert();
    await until("a later conversion is posted", async () => {
      const rows = await books.rows("select id from ledger_transaction");
      return rows.length > 0;
    });
    const open = await books.rows(
      "select workspace_id from billing_settings where backfilled_to is null",
    );
    expect(open).toHaveLength(1);
  });
  await books.untilPosted();
  expect(await books.balances()).toEqual(standing("30.0000", "45.0000"));
  expect(await books.audit()).toEqual([]);
});

test("changes of conversions from before starts_on are listed and not posted (N36)", async () => {
  const today = new Date();
  const tomorrow = new Date(today.getTime() + 86_400_000).toISOString().slice(0, 10);
  const old = await books.convert();
  const recent = await books.convert({ payout: "3", revenue: "4" });
  await books.rows("update conversion set created_at = $2 where id = $1", [
    old,
    `${today.toISOString().slice(0, 10)}T00:00:00Z`,
  ]);
  await books.rows("update conversion set created_at = $2 where id = $1", [
    recent,
    `${tomorrow}T00:00:00Z`,
  ]);
  await books.enable(tomorrow);
  books.startLane();
  await books.untilPosted();
  await books.change(old, { status: "rejected" });
  await books.change(recent, { payout: "5" });
  await books.untilPosted();
  expect(await books.balances()).toEqual(standing("5.0000", "4.0000"));
  expect(await books.rows("select workspace_id, conversion_id from ledger_unposted")).toEqual([
    { workspace_id: books.workspaceId, conversion_id: old },
  ]);
  expect(await books.audit()).toEqual([]);
});
