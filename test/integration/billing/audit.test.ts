import { afterEach, beforeEach, expect, test } from "vitest";
import { startSchedule } from "../../../processors/schedule/start.ts";
import type { Invariant } from "../../../schemas/billing/audit-statements.ts";
import { postLedger, type TransactionKind } from "../../../schemas/billing/post-ledger.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import type { Amount } from "../../../schemas/money/amount.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { metricIn } from "../../services/metric-at.ts";
import { testLog } from "../../services/stores.ts";
import { Books } from "./books.ts";

const SOON = { timeout: 20_000, interval: 50 };

let books: Books;
beforeEach(async () => {
  books = await Books.open();
  await books.enable();
  books.startLane();
  await books.convert();
  await books.convert({ payout: "7", revenue: "9" });
  await books.untilPosted();
});
afterEach(() => books.close());

const GUARDED = ["ledger_entry", "statement", "statement_line"];

/** Changes tables as nobody can who does not switch their triggers off. */
async function damage(text: string, values: readonly unknown[] = []): Promise<{ id: number }[]> {
  return await inTransaction(books.pool, async (tx) => {
    for (const table of GUARDED)
      await tx.query({ text: `alter table ${table} disable trigger user` });
    const { rows } = await tx.query<{ id: number }>({ text, values });
    for (const table of GUARDED)
      await tx.query({ text: `alter table ${table} enable trigger user` });
    return rows;
  });
}

async function violated(): Promise<Invariant[]> {
  return [...new Set((await books.audit()).map(({ invariant }) => invariant))];
}

test.each([
  [
    "update ledger_entry set amount = amount + 1 where seq = 1 and kind = 'conversion'",
    ["I1", "I3", "I4", "I5"],
  ],
  ["update ledger_balance set balance = balance + 1 where account_id = 1", ["I2", "I3"]],
  [
    "delete from ledger_entry where transaction_id = (select max(id) from ledger_transaction)",
    ["I1", "I3", "I4", "I5"],
  ],
  ["update ledger_balance set last_seq = last_seq + 1", ["I3"]],
  ["update conversion set payout = payout + 0.0001 where payout = 7", ["I4"]],
  ["update conversion set status = 'rejected' where payout = 7", ["I4"]],
])("an audit finds what nobody may do: %s (N42)", async (text, invariants) => {
  expect(await books.audit()).toEqual([]);
  await damage(text);
  expect(await violated()).toEqual(expect.arrayContaining(invariants));
});

test("a conversion whose change still waits is no violation (I4, N42)", async () => {
  await books.closeLanes();
  await books.convert();
  expect(await books.audit()).toEqual([]);
  await books.rows("delete from ledger_outbox");
  expect(await violated()).toEqual(["I4"]);
});

/** Posts for the first partner, against an account of the network. */
async function post(
  kind: TransactionKind,
  account: "clearing" | "tax_in",
  amount: Amount,
): Promise<void> {
  const currency = "EUR";
  await inTransaction(books.pool, async (tx) => {
    await postLedger(tx, books.workspaceId, [
      {
        kind,
        sourceKind: "test",
        sourceId: `${kind} ${String(amount)}`,
        entries: [
          { account: "partner_payable", ownerId: books.partners[0], currency, amount },
          { account, ownerId: 0, currency, amount: -amount },
        ],
      },
    ]);
  });
}

type StatementFields = Readonly<Record<string, string | number | null>>;

/** The statement of all that was posted, 17 owed, with tax of 1. */
async function addStatement(fields: StatementFields = {}, line = "17"): Promise<number> {
  const [account] = await books.rows<{ id: number }>(
    "select id from ledger_account where kind = 'partner_payable'",
  );
  const columns = {
    workspace_id: books.workspaceId,
    affiliate_id: books.partners[0],
    account_id: account?.id,
    currency: "EUR",
    status: "draft",
    terms: "monthly",
    period_from: "2026-01-01T00:00:00Z",
    period_to: "2026-02-01T00:00:00Z",
    timezone: "UTC",
    from_seq: 0,
    to_seq: 2,
    carried_in: "0",
    total: "17",
    min_payout: "0",
    payable: "17",
    tax_amount: "1",
    gross: "18",
    carried_out: "0",
    due_on: "2026-02-01",
    ...fields,
  };
  const names = Object.keys(columns);
  const [made] = await damage(
    `with made as (
       insert into statement (${names.join(", ")}) values (${names.map((_, at) => `$${at + 1}`).join(", ")}) returning id
     ), line as (
       insert into statement_line (statement_id, line, kind, count, amount)
       select id, 1, 'conversions', 2, $${names.length + 1}::numeric from made
     )
     select id from made`,
    [...Object.values(columns), line],
  );
  return made?.id ?? 0;
}

test("statements hold I5 to I8 from draft to paid and returned, and faults are found (N42)", async () => {
  const id = await addStatement();
  expect(await books.audit()).toEqual([]);
  await books.convert({ payout: "2" });
  await books.untilPosted();
  expect(await books.audit()).toEqual([]);
  const set = (status: string): Promise<unknown> =>
    damage("update statement set status = $2, number = 'S-1' where id = $1", [id, status]);
  await set("approved");
  expect(await violated()).toEqual(["I5"]);
  await post("statement_tax", "tax_in", -10_000n);
  expect(await books.audit()).toEqual([]);
  const run = await books.insert("payout_run", {
    workspace_id: books.workspaceId,
    status: "approved",
    currency: "EUR",
    methods: ["wire"],
    due_until: "2026-02-01",
    execution_date: "2026-02-01",
  });
  await books.rows(
    `insert into payout_line (run_id, workspace_id, affiliate_id, method, currency, amount, status)
     values ($1, $2, $3, 'wire', 'EUR', 18, 'paid')`,
    [run, books.workspaceId, books.partners[0]],
  );
  expect(await violated()).toEqual(["I8"]);
  await post("payout", "clearing", 180_000n);
  expect(await violated()).toEqual(["I5"]);
  await set("paid");
  expect(await books.audit()).toEqual([]);
  await post("payout_return", "clearing", -180_000n);
  await set("approved");
  expect(await violated()).toEqual(["I8"]);
  await books.rows("update payout_line set status = 'returned'");
  expect(await books.audit()).toEqual([]);
});

test.each<[string, StatementFields, string, Invariant]>([
  ["whose lines do not add up", {}, "16.9999", "I7"],
  ["that leaves a gap", { from_seq: 1 }, "17", "I6"],
  ["that ends behind the last entry", { to_seq: 3 }, "17", "I6"],
  ["that carries in what nobody carried out", { carried_in: "1" }, "16", "I6"],
])("an audit finds a statement %s (N42)", async (_, fields, line, invariant) => {
  await addStatement(fields, line);
  expect(await violated()).toContain(invariant);
});

test("the nightly audit keeps what it found and shows it as a metric (N42)", async () => {
  await damage("update conversion set payout = 8 where payout = 7");
  const metrics = new Metrics();
  const schedule = startSchedule(
    {
      pool: books.pool,
      clickhouse: books.clickhouse,
      log: testLog(),
      metrics,
      signal: new AbortController().signal,
    },
    { taskTickMs: 50 },
  );
  try {
    const found = (): Promise<unknown> =>
      books.rows("select workspace_id, violations -> 0 -> 'invariant' as first from billing_audit");
    await expect.poll(found, SOON).toEqual([{ workspace_id: books.workspaceId, first: "I4" }]);
  } finally {
    await schedule.close();
  }
  const again = new Metrics();
  const shown = startSchedule({
    pool: books.pool,
    clickhouse: books.clickhouse,
    log: testLog(),
    metrics: again,
    signal: new AbortController().signal,
  });
  try {
    await expect.poll(() => metricIn(again.render(), "ledger_violations"), SOON).toBe(1);
  } finally {
    await shown.close();
  }
});
