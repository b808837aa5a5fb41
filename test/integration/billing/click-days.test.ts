import { afterEach, beforeEach, expect, test } from "vitest";
import { postClickDays } from "../../../processors/schedule/post-clicks.ts";
import { formatAmount, parseAmount } from "../../../schemas/money/amount.ts";
import { HOUR_MS } from "../../../schemas/time/zone.ts";
import { standInForWriters } from "../clicks/stand-in-writers.ts";
import { Books } from "./books.ts";

const SIGNAL = new AbortController().signal;
/** Its clocks are always 5 h 30 min ahead, so a day of it is two days of UTC. */
const ZONE = "Asia/Kolkata";

let books: Books;
beforeEach(async () => {
  books = await Books.open(ZONE);
});
afterEach(() => books.close());

type Click = {
  readonly at: string;
  readonly payout?: string;
  readonly revenue?: string;
  readonly affiliateId?: number;
  readonly status?: string;
  readonly count?: number;
};

let position = 0;

async function addClicks(clicks: readonly Click[]): Promise<void> {
  for (const { at, payout = "0.1", revenue = "0.25", count = 1, ...click } of clicks) {
    await books.clickhouse.command({
      query: `insert into click (workspace_id, ts, click_id, status, offer_id, advertiser_id, affiliate_id, click_payout, click_revenue,
          currency, _position)
        select {workspace: UInt32}, parseDateTime64BestEffort({at: String}, 3, 'UTC'), substring(toString(generateUUIDv4()), 1, 16),
          {status: String}, {offer: UInt32}, {advertiser: UInt32}, {affiliate: UInt32}, toDecimal64({payout: String}, 4),
          toDecimal64({revenue: String}, 4), 'EUR', {position: UInt64} + number
        from numbers({count: UInt32})`,
      query_params: {
        workspace: books.workspaceId,
        at,
        status: click.status ?? "redirect",
        offer: books.offerId,
        advertiser: books.advertiserId,
        affiliate: click.affiliateId ?? books.partners[0],
        payout,
        revenue,
        position,
        count,
      },
    });
    position += count;
  }
}

/** `hours` before now. */
function ago(hours: number): string {
  return new Date(Date.now() - hours * HOUR_MS).toISOString();
}

/** The day of the zone, `YYYY-MM-DD`. */
function dayOf(at: string): string {
  return new Date(Date.parse(at) + 5.5 * HOUR_MS).toISOString().slice(0, 10);
}

function post(): Promise<number> {
  const { pool, clickhouse, nats } = books;
  return postClickDays({ pool, clickhouse, nats }, SIGNAL);
}

function standing(payout: string, revenue: string) {
  return {
    [`advertiser_receivable ${books.advertiserId} EUR`]: revenue,
    [`partner_payable ${books.partners[0]} EUR`]: `-${payout}`,
    "payout_cost EUR": payout,
    "revenue EUR": `-${revenue}`,
  };
}

test("clicks are posted by day of the workspace, once, and a later reading posts the rest (N40)", async () => {
  const at = ago(10 * 24);
  const day = dayOf(at);
  const begins = Date.parse(`${day}T00:00:00Z`) - 5.5 * HOUR_MS;
  const inDay = (ms: number): string => new Date(begins + ms).toISOString();
  await books.enable(day);
  await addClicks([
    { at: inDay(-1), payout: "7" },
    { at: inDay(0), count: 3 },
    { at: inDay(24 * HOUR_MS - 1) },
    { at: inDay(HOUR_MS), status: "blocked", payout: "9" },
    { at: inDay(HOUR_MS), payout: "0", revenue: "0" },
    { at: inDay(HOUR_MS), affiliateId: 0, payout: "5", revenue: "1" },
  ]);
  expect(await post()).toBe(2);
  expect(await books.balances()).toEqual(standing("0.4000", "2.0000"));
  expect(await post()).toBe(0);
  expect(
    await books.rows(
      `select t.source_id, a.kind, e.amount, e.count::integer from ledger_transaction t
       join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id
       where a.kind in ('partner_payable', 'revenue') order by 1, 2`,
    ),
  ).toEqual([
    {
      source_id: `${day}/${books.offerId}/0/1`,
      kind: "revenue",
      amount: "-1.0000",
      count: 1,
    },
    {
      source_id: `${day}/${books.offerId}/${books.partners[0]}/1`,
      kind: "partner_payable",
      amount: "-0.4000",
      count: 4,
    },
    {
      source_id: `${day}/${books.offerId}/${books.partners[0]}/1`,
      kind: "revenue",
      amount: "-1.0000",
      count: 4,
    },
  ]);
  // Late clicks, found by the reading of the third day.
  await addClicks([{ at: inDay(2 * HOUR_MS), count: 2 }]);
  await books.rows("update ledger_click_day set readings = 2 where day = $1", [day]);
  expect(await post()).toBe(1);
  expect(await books.balances()).toEqual(standing("0.6000", "2.5000"));
  // Nobody reads a day a fourth time.
  await addClicks([{ at: inDay(2 * HOUR_MS) }]);
  expect(await post()).toBe(0);
  expect(await books.audit()).toEqual([]);
});

test("a reading that died half-way is repeated and posts nothing twice (N40)", async () => {
  const at = ago(5 * 24);
  await books.enable(dayOf(at));
  await addClicks([{ at, count: 10 }]);
  await post();
  await books.rows("update ledger_click_day set readings = 0");
  expect(await post()).toBe(0);
  expect(await books.balances()).toEqual(standing("1.0000", "2.5000"));
});

test("what is posted of clicks that vanished is taken back, exactly (N40)", async () => {
  const at = ago(5 * 24);
  await books.enable(dayOf(at));
  await addClicks([{ at, payout: "0.3333", revenue: "0.0001", count: 3 }]);
  await post();
  const sum = formatAmount((parseAmount("0.3333") ?? 0n) * 3n);
  expect(await books.balances()).toEqual(standing(sum, "0.0003"));
  await books.clickhouse.command({
    query: "alter table click delete where workspace_id = {id: UInt32} settings mutations_sync = 1",
    query_params: { id: books.workspaceId },
  });
  await books.rows("update ledger_click_day set readings = 2");
  expect(await post()).toBe(1);
  expect(await books.balances()).toEqual({});
});

test("a day waits until it has ended and every writer has stored it (N40, P11)", async () => {
  const at = ago(30);
  const ends = Date.parse(`${dayOf(at)}T00:00:00Z`) + 18.5 * HOUR_MS;
  await books.enable(dayOf(at));
  await addClicks([{ at }, { at: ago(0) }]);
  // No writer answers.
  expect(await post()).toBe(0);
  let storedToMs = ends - 1;
  standInForWriters(books.nats, () => ({ completeToMs: storedToMs, clicks: [] }));
  await books.nats.connection.flush();
  expect(await post()).toBe(0);
  expect(await books.rows("select readings from ledger_click_day where readings > 0")).toEqual([]);
  storedToMs = Date.now();
  expect(await post()).toBe(1);
  expect(await books.balances()).toEqual(standing("0.1000", "0.2500"));
});

test("clicks are not posted while billing is off (N36)", async () => {
  const at = ago(5 * 24);
  await books.enable(dayOf(at));
  await books.disable();
  await addClicks([{ at }]);
  expect(await post()).toBe(0);
  expect(await books.balances()).toEqual({});
});
