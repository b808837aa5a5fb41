import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createWorkspace } from "../../../api/cli/workspaces.ts";
import { approveStatement } from "../../../schemas/billing/approve-statement.ts";
import { listStatementLines } from "../../../schemas/billing/statements.ts";
import { voidStatement } from "../../../schemas/billing/void-statement.ts";
import { amountOf, formatAmount } from "../../../schemas/money/amount.ts";
import { poolWithin } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { openStores, Stores } from "../../services/stores.ts";
import { inShort, StatementBooks } from "./statement-books.ts";

const stores = await forThisFile(
  openStores({ label: "statements" }).then((open) => new Stores(open)),
);
let books: StatementBooks;
beforeAll(async () => {
  books = await newBooks("books");
});

async function newBooks(slug: string, settings = {}): Promise<StatementBooks> {
  const workspace = { slug, name: slug, timezone: "UTC", currency: "EUR" };
  const { id } = await createWorkspace(stores.pool, workspace);
  const opened = new StatementBooks(stores, id);
  await opened.switchOn(settings);
  return opened;
}

const onRequest = { payment_terms: "on_request" };

test("thirds of a cent over 400 periods: what was paid and is carried is what was earned (N48)", async () => {
  const id = await books.partner(onRequest);
  let paid = 0n;
  let carried = 0n;
  for (let period = 0; period < 400; period += 1) {
    await books.earn({ affiliateId: id, amount: "0.0033" });
    for (const { row } of await books.closeNow(id)) {
      expect(amountOf(row.carried_in)).toBe(carried);
      paid += amountOf(row.payable);
      carried = amountOf(row.carried_out);
    }
  }
  expect([formatAmount(paid), formatAmount(carried)]).toEqual(["1.3200", "0.0000"]);
}, 120_000);

test("yen have no cents, dinars have thousandths: the rest is carried (N6, N48)", async () => {
  const id = await books.partner(onRequest);
  await books.earn(
    { affiliateId: id, currency: "JPY", amount: "1840.55" },
    { affiliateId: id, currency: "KWD", amount: "1.2345" },
  );
  expect(inShort(await books.closeNow(id))).toEqual([
    ["draft", "0.0000", "1840.5500", "1840.0000", "0.5500"],
    ["draft", "0.0000", "1.2345", "1.2340", "0.0005"],
  ]);
});

test("a minimum in another currency is compared at the rate of the day, and not reached without one (N48)", async () => {
  const min = { ...onRequest, currency: "USD", min_payout: "50" };
  const [first, second] = [await books.partner(min), await books.partner(min)];
  await books.earn({ affiliateId: first, currency: "CHF", amount: "1000" });
  expect(inShort(await books.closeNow(first))).toEqual([
    ["carried", "0.0000", "1000.0000", "0.0000", "1000.0000"],
  ]);
  await stores.rows(
    `insert into workspace_fx_rate (workspace_id, date, currency, rate) values ($1, current_date, 'USD', 1.25), ($1, current_date, 'CHF', 0.95)`,
    [books.workspaceId],
  );
  await books.earn({ affiliateId: second, currency: "CHF", amount: "37.9999" });
  const [below] = await books.closeNow(second);
  expect([below?.row.status, below?.row.min_payout]).toEqual(["carried", "38.0000"]);
  await books.earn({ affiliateId: second, currency: "CHF", amount: "0.0001" });
  expect(inShort(await books.closeNow(second))).toEqual([
    ["draft", "37.9999", "38.0000", "38.0000", "0.0000"],
  ]);
});

test("50 posters race closers: the ranges adjoin, and every entry is on one statement (N38, I6)", async () => {
  const id = await books.partner(onRequest);
  await books.earn({ affiliateId: id, amount: "1" });
  const posters = Array.from({ length: 50 }, async () => {
    for (let index = 0; index < 4; index += 1)
      await books.earn({ affiliateId: id, amount: "0.0101" });
  });
  const closers = Array.from({ length: 4 }, async () => {
    for (let index = 0; index < 8; index += 1) await books.closeNow(id);
  });
  await Promise.all([...posters, ...closers]);
  await books.closeNow(id);
  const rows = await stores.rows<Record<string, unknown>>(
    `select from_seq, to_seq, carried_in, carried_out, total,
       lag(to_seq, 1, 0::bigint) over w as before_seq, lag(carried_out, 1, 0.0000) over w as before_carried,
       (select coalesce(sum(amount), 0) from statement_line l where l.statement_id = s.id) as lines
     from statement s where affiliate_id = $1 window w as (order by to_seq, period_to) order by to_seq, period_to`,
    [id],
  );
  expect(rows.length).toBeGreaterThan(2);
  for (const row of rows) {
    expect([row["from_seq"], row["carried_in"]]).toEqual([
      row["before_seq"],
      row["before_carried"],
    ]);
    expect(amountOf(String(row["total"]))).toBe(
      amountOf(String(row["carried_in"])) + amountOf(String(row["lines"])),
    );
  }
  const [sums] = await stores.rows<{
    payable: string;
    carried: string;
    balance: string;
    last: number;
  }>(
    `select sum(s.payable) as payable, (array_agg(s.carried_out order by s.to_seq desc, s.period_to desc))[1] as carried, -b.balance as balance,
       b.last_seq = max(s.to_seq) as last
     from statement s join ledger_balance b on b.account_id = s.account_id where s.affiliate_id = $1 group by b.balance, b.last_seq`,
    [id],
  );
  expect(sums).toMatchObject({ balance: "3.0200", last: true });
  expect(amountOf(sums?.payable ?? "") + amountOf(sums?.carried ?? "")).toBe(30_200n);
}, 60_000);

test("500 approvals race, some are rolled back: numbers have no gap and none is twice (N49)", async () => {
  const busy = await newBooks("numbers");
  const partners = await Promise.all(Array.from({ length: 500 }, () => busy.partner(onRequest)));
  for (let from = 0; from < partners.length; from += 100)
    await busy.earn(
      ...partners.slice(from, from + 100).map((affiliateId) => ({ affiliateId, amount: "5" })),
    );
  await stores.rows(
    `insert into tax_record (workspace_id, affiliate_id, mode, rate) select workspace_id, id, 'domestic', 19 from affiliate where workspace_id = $1`,
    [busy.workspaceId],
  );
  const nowMs = Date.now() + 1_000;
  const made = await busy.close(undefined, { endedMs: nowMs, requestedMs: nowMs });
  expect(made).toHaveLength(500);
  const queue = made.map(({ row }) => row.id);
  const rolledBack: number[] = [];
  const worker = async (): Promise<void> => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      if (id % 7 !== 0) {
        await busy.approve(id);
        continue;
      }
      rolledBack.push(id);
      const connection = await stores.pool.connect();
      await connection.query({ text: "begin" });
      await approveStatement(poolWithin(connection), {
        workspaceId: busy.workspaceId,
        id,
        by: {},
      });
      await connection.query({ text: "rollback" });
      connection.release();
    }
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  expect(rolledBack.length).toBeGreaterThan(50);
  const numbers = await stores.rows<{ n: number }>(
    `select right(number, 4)::int as n from statement where workspace_id = $1 and number is not null order by 1`,
    [busy.workspaceId],
  );
  expect(numbers.map(({ n }) => n)).toEqual(
    Array.from({ length: 500 - rolledBack.length }, (_, index) => index + 1),
  );
  // Tax was posted once for each.
  const [tax] = await stores.rows(
    `select b.balance from ledger_account a join ledger_balance b on b.account_id = a.id where a.workspace_id = $1 and a.kind = 'tax_in'`,
    [busy.workspaceId],
  );
  expect(tax).toEqual({ balance: formatAmount(BigInt(500 - rolledBack.length) * 9_500n) });
}, 120_000);

test("a refund after payout is a clawback of the next statement, carried while below zero (N44)", async () => {
  const id = await books.partner(onRequest);
  const conversionId = randomUUID();
  const sale = { affiliateId: id, conversionId, offerId: 7, eventCode: "sale" };
  await books.earn({ ...sale, amount: "20" });
  const [paid] = await books.closeNow(id);
  const approved = await books.approve(paid?.row.id ?? 0);
  if (!("statement" in approved)) throw new Error(approved.outcome);
  await books.pay(approved.statement);
  await books.earn({ ...sale, amount: "-20" }, { affiliateId: id, amount: "5" });
  const [next] = await books.closeNow(id);
  expect(inShort(next === undefined ? [] : [next])).toEqual([
    ["carried", "0.0000", "-15.0000", "0.0000", "-15.0000"],
  ]);
  const lines = await listStatementLines(stores.pool, next?.row.id ?? 0);
  expect(
    lines.map(({ kind, amount, of_statement_number }) => [kind, amount, of_statement_number]),
  ).toEqual([
    ["conversions", "5.0000", null],
    ["clawback", "-20.0000", approved.statement.row.number],
  ]);
  await books.earn({ affiliateId: id, amount: "15.5" });
  expect(inShort(await books.closeNow(id))).toEqual([
    ["draft", "-15.0000", "0.5000", "0.5000", "0.0000"],
  ]);
});

test("what is taken back before its period ends is a reversal (N44)", async () => {
  const id = await books.partner(onRequest);
  const sale = { affiliateId: id, conversionId: randomUUID() };
  await books.earn({ ...sale, amount: "20" });
  await books.earn({ ...sale, amount: "-20" }, { affiliateId: id, amount: "1" });
  const [made] = await books.closeNow(id);
  expect(made?.lines.map(({ kind, amount, count }) => [kind, amount, count])).toEqual([
    ["conversions", "21.0000", 2],
    ["reversal", "-20.0000", -1],
  ]);
});

test("only the newest draft or carried statement is voided, and its range is free again (N49)", async () => {
  const id = await books.partner(onRequest);
  const statements = [];
  for (const amount of ["1", "2", "3"]) {
    await books.earn({ affiliateId: id, amount });
    statements.push(...(await books.closeNow(id)));
  }
  const [first, second, third] = statements.map(({ row }) => row.id);
  const voided = async (statement = 0) =>
    (await voidStatement(stores.pool, books.workspaceId, statement)).outcome;
  await books.approve(second ?? 0);
  expect(await voided(first)).toBe("not_newest");
  expect(await voided(third)).toBe("voided");
  expect(await voided(third)).toBe("not_voidable");
  expect(await voided(second)).toBe("not_voidable");
  expect(await voided(99_999_999)).toBe("missing");
  expect(inShort(await books.closeNow(id))).toEqual([
    ["draft", "0.0000", "3.0000", "3.0000", "0.0000"],
  ]);
});

test.each([
  ["an amount", "update statement set payable = payable + 1, total = total + 1, gross = gross + 1"],
  ["a range", "update statement set to_seq = to_seq + 1"],
  ["a state backwards", "update statement set status = 'draft' where status = 'carried'"],
  ["a deletion", "delete from statement"],
  ["a line", "update statement_line set amount = 0"],
  ["all lines", "truncate statement_line"],
  [
    "a range twice",
    `insert into statement (workspace_id, affiliate_id, account_id, currency, status, terms, period_from, period_to, timezone, from_seq, to_seq,
       carried_in, total, payable, gross, carried_out, due_on)
     select workspace_id, affiliate_id, account_id, currency, 'draft', terms, now() + interval '1 year', now() + interval '2 years', 'UTC',
       0, to_seq, 0, 1, 1, 1, 0, now() from statement order by to_seq desc limit 1`,
  ],
])("Postgres refuses a change of a statement: %s (N8, I6)", async (_what, text) => {
  const id = await books.partner({ ...onRequest, min_payout: "100" });
  await books.earn({ affiliateId: id, amount: "2" });
  await books.closeNow(id);
  const refused = await stores.rows(text).then(
    () => "",
    (error: unknown) => z.object({ code: z.string() }).parse(error).code,
  );
  expect(["23514", "42501"]).toContain(refused);
});

test("each period that passed gets its own statement, and empty ones none (N47, N48)", async () => {
  const own = await newBooks("periods");
  const weekly = await own.partner({ payment_terms: "weekly" });
  const idle = await own.partner({ payment_terms: "weekly" });
  await own.earn({ affiliateId: weekly, amount: "1" });
  await own.takeBack(21);
  await own.earn({ affiliateId: weekly, amount: "2" });
  await own.takeBack(28);
  await own.earn({ affiliateId: idle, amount: "-1" }, { affiliateId: weekly, amount: "4" });
  await own.takeBack(7);
  const made = await own.close(undefined, { endedMs: Date.now() });
  expect(made.map(({ row }) => [row.affiliate_id, row.status, row.total])).toEqual([
    [weekly, "draft", "1.0000"],
    [weekly, "draft", "2.0000"],
    [weekly, "draft", "4.0000"],
    [idle, "carried", "-1.0000"],
  ]);
  for (const { row } of made) {
    expect(new Date(row.period_from).getUTCDay()).toBe(1);
    expect(Date.parse(row.period_to) - Date.parse(row.period_from)).toBe(7 * 86_400_000);
  }
  expect(await own.close(undefined, { endedMs: Date.now() })).toEqual([]);
});

test("what was carried is paid when the minimum is lowered, without a new entry (N48)", async () => {
  const id = await books.partner({ payment_terms: "weekly", min_payout: "50" });
  await books.earn({ affiliateId: id, amount: "40" });
  const week = 7 * 86_400_000;
  expect(inShort(await books.close(id, { endedMs: Date.now() + week }))).toEqual([
    ["carried", "0.0000", "40.0000", "0.0000", "40.0000"],
  ]);
  expect(await books.close(id, { endedMs: Date.now() + 2 * week })).toEqual([]);
  await stores.rows("update affiliate set min_payout = 40 where id = $1", [id]);
  const made = await books.close(id, { endedMs: Date.now() + 4 * week });
  expect(inShort(made)).toEqual([["draft", "40.0000", "40.0000", "40.0000", "0.0000"]]);
  expect(made[0]?.lines).toEqual([]);
  expect(await books.close(id, { endedMs: Date.now() + 9 * week })).toEqual([]);
});

test("a change of terms takes effect with the next period (N47)", async () => {
  const id = await books.partner({ payment_terms: "monthly" });
  await books.earn({ affiliateId: id, amount: "1" });
  await stores.rows("update affiliate set payment_terms = 'weekly' where id = $1", [id]);
  const [made] = await books.close(id);
  expect(made?.row.terms).toBe("monthly");
  const now = new Date();
  const month = (add: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + add, 1)).toISOString();
  expect([made?.row.period_from, made?.row.period_to]).toEqual([month(0), month(1)]);
});

test("adjustments are on lines of their kinds, and tax is added to what is payable (N43, N48)", async () => {
  const id = await books.partner(onRequest);
  await stores.rows(
    "insert into tax_record (workspace_id, affiliate_id, mode, rate) values ($1, $2, 'domestic', 19)",
    [books.workspaceId, id],
  );
  await books.earn({ affiliateId: id, amount: "10.555" });
  await books.adjust(id, "5");
  await books.adjust(id, "-1.005");
  const [made] = await books.closeNow(id);
  expect(made?.lines.map(({ kind, amount }) => [kind, amount])).toEqual([
    ["conversions", "10.5550"],
    ["bonus", "5.0000"],
    ["deduction", "-1.0050"],
  ]);
  expect(made?.row).toMatchObject({ payable: "14.5500", tax_amount: "2.7600", gross: "17.3100" });
});

test("a preview shows what closing makes and keeps nothing (N48)", async () => {
  const id = await books.partner();
  await books.earn({ affiliateId: id, amount: "10" });
  const preview = await books.close(id, { isDryRun: true });
  expect(await stores.rows("select id from statement where affiliate_id = $1", [id])).toEqual([]);
  expect(inShort(await books.close(id))).toEqual(inShort(preview));
  expect(preview).toHaveLength(1);
});

test("violations of the last audit stop approvals (N42)", async () => {
  const own = await newBooks("audited");
  const id = await own.partner(onRequest);
  await own.earn({ affiliateId: id, amount: "10" });
  const [made] = await own.closeNow(id);
  await stores.rows(
    `insert into billing_audit (workspace_id, audited_at, violations) values ($1, now(), '[{"invariant": "I3"}]')`,
    [own.workspaceId],
  );
  expect(await own.approve(made?.row.id ?? 0)).toEqual({ outcome: "violations" });
  await stores.rows("update billing_audit set violations = '[]' where workspace_id = $1", [
    own.workspaceId,
  ]);
  expect(await own.approve(made?.row.id ?? 0)).toMatchObject({ outcome: "approved" });
  expect(await own.approve(made?.row.id ?? 0)).toMatchObject({ outcome: "unchanged" });
});
