import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorkspace } from "../../../api/cli/workspaces.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { openStores, Stores } from "../../services/stores.ts";

const PARTNER = 7;

let stores: Stores;
let workspaceId: number;
beforeAll(async () => {
  stores = new Stores(await openStores({ label: "ledger" }));
  const made = await createWorkspace(stores.pool, {
    slug: "books",
    name: "Books",
    timezone: "UTC",
    currency: "EUR",
  });
  workspaceId = made.id;
});
afterAll(() => stores.close());

type Posted = { readonly source_id: string };

async function post(transactions: readonly unknown[]): Promise<Posted[]> {
  const { rows: posted } = await stores.pool.query<Posted>({
    text: "select source_id from post_ledger($1, $2)",
    values: [workspaceId, JSON.stringify(transactions)],
  });
  return posted;
}

/** The payout of a conversion. */
function payout(id: string, amount: string, ownerId = PARTNER) {
  const entry = { currency: "EUR", count: 1 };
  return {
    source_kind: "history",
    source_id: id,
    kind: "conversion",
    entries: [
      { ...entry, account: "payout_cost", owner_id: 0, amount },
      { ...entry, account: "partner_payable", owner_id: ownerId, amount: `-${amount}` },
    ],
  };
}

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return (await stores.pool.query({ text })).rows;
}

test("a fact is posted once, also twice in one call and by 50 sessions at a time (N38, N39)", async () => {
  expect(await post([payout("1", "1.5"), payout("1", "1.5")])).toEqual([{ source_id: "1" }]);
  expect(await post([payout("1", "1.5")])).toEqual([]);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      post([payout(`a${index % 10}`, "0.0001", 8), payout(`b${index}`, "2.0000", 7 + (index % 3))]),
    ),
  );
  expect(
    await rows(`select a.kind, a.owner_id, b.balance, b.last_seq::int,
        (select sum(amount) from ledger_entry e where e.account_id = a.id) as entries,
        (select count(*)::int from ledger_entry e where e.account_id = a.id) as count,
        (select max(seq)::int from ledger_entry e where e.account_id = a.id) as highest,
        (select count(*)::int from (select e.posted_at < lag(e.posted_at) over (order by e.seq) as falls
          from ledger_entry e where e.account_id = a.id) f where f.falls) as falls
      from ledger_account a join ledger_balance b on b.account_id = a.id order by 1, 2`),
  ).toEqual([
    { kind: "partner_payable", owner_id: 7, ...standing("-35.5000", 18) },
    { kind: "partner_payable", owner_id: 8, ...standing("-34.0010", 27) },
    { kind: "partner_payable", owner_id: 9, ...standing("-32.0000", 16) },
    { kind: "payout_cost", owner_id: 0, ...standing("101.5010", 61) },
  ]);
});

function standing(balance: string, entries: number) {
  return {
    balance,
    last_seq: entries,
    entries: balance,
    count: entries,
    highest: entries,
    falls: 0,
  };
}

test.each([
  "update ledger_entry set amount = amount + 1",
  "delete from ledger_entry",
  "truncate ledger_entry",
  "update ledger_transaction set description = 'changed'",
  "delete from ledger_transaction where id < 0",
  "truncate ledger_transaction",
])("nobody changes what was posted: %s (N8, N37)", async (text) => {
  await post([payout("kept", "1")]);
  await expect(rows(text)).rejects.toMatchObject({ code: "42501" });
});

test("entries that do not sum to 0 in each currency are refused (N37, I1)", async () => {
  const [debit, credit] = payout("x", "5").entries;
  const transaction = { source_kind: "test", kind: "conversion" };
  for (const [id, entries] of Object.entries({
    "one-sided": [debit],
    "not-zero": [debit, { ...credit, amount: "-4.9999" }],
    "two-currencies": [debit, { ...credit, currency: "USD" }],
    none: [],
  })) {
    await expect(post([{ ...transaction, source_id: id, entries }])).rejects.toMatchObject({
      code: "23514",
    });
  }
  expect(await rows("select * from ledger_transaction where source_kind = 'test'")).toEqual([]);
});

test("posting reads no more of a large ledger than of a small one (N39)", async () => {
  const batch = (name: string) =>
    Array.from({ length: 400 }, (_, index) => payout(`${name}-${index}`, "1"));
  const readOf = async (name: string): Promise<number> => {
    await rows("analyze ledger_entry, ledger_transaction, ledger_account, ledger_balance");
    return await inTransaction(stores.pool, async (tx) => {
      // What earlier transactions of the connection read is counted too until the server takes it over.
      const counted = async (): Promise<number> => {
        const { rows: counts } = await tx.query<{ read: number }>({
          text: `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
                 where relname = 'ledger_entry'`,
        });
        return counts[0]?.read ?? Number.NaN;
      };
      const before = await counted();
      await tx.query({
        text: "select post_ledger($1, $2)",
        values: [workspaceId, JSON.stringify(batch(name))],
      });
      await tx.query({ text: "set constraints all immediate" });
      return (await counted()) - before;
    });
  };
  const ofSmall = await readOf("small");
  for (let times = 0; times < 12; times += 1) await post(batch(`fill-${times}`));
  expect(await readOf("large")).toBeLessThanOrEqual(1.5 * ofSmall);
});
