import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, nextCursor, refusal } from "../api/api-world.ts";
import { adjust, earn, rowsOf, storeConversion, switchOn } from "./billing-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
await switchOn(world);
await switchOn(world, foreign);
const { workspaceId, keys, affiliateId, advertiserId } = world.tenant;
// Documents in any state, without what led to it.
for (const table of ["statement", "invoice"])
  await world.pool.query({ text: `alter table ${table} disable trigger user` });

async function accountId(kind: string, currency: string): Promise<number> {
  const [row] = await world.rows<{ id: number }>(
    "select id from ledger_account where workspace_id = $1 and kind = $2 and currency = $3",
    [workspaceId, kind, currency],
  );
  return row?.id ?? 0;
}

async function addStatement(
  accountOf: string,
  [status, payable, carriedOut, gross]: readonly [string, string, string, string],
  toSeq: number,
): Promise<void> {
  const isNumbered = !["draft", "carried", "void"].includes(status);
  await world.insert("statement", {
    workspace_id: workspaceId,
    affiliate_id: affiliateId,
    account_id: await accountId("partner_payable", accountOf),
    currency: accountOf,
    number: isNumbered ? `S-${accountOf}-${toSeq}` : null,
    status,
    terms: "monthly",
    period_from: "2026-01-01",
    period_to: `2026-0${toSeq + 1}-01`,
    timezone: "UTC",
    from_seq: toSeq - 1,
    to_seq: toSeq,
    carried_in: "0",
    total: String(Number(payable) + Number(carriedOut)),
    min_payout: "0",
    payable,
    tax_amount: String(Number(gross) - Number(payable)),
    gross,
    carried_out: carriedOut,
    due_on: "2026-02-01",
  });
}

test("a partner's balance is split as computed by hand (N45, I5)", async () => {
  for (const payout of ["100", "40.5", "-3.25", "20.0001"])
    await earn(world, { payout, currency: "EUR" });
  expect(await partner("EUR")).toMatchObject({
    balance: "157.2501",
    unbilled: "157.2501",
    carried: "0.0000",
    draft: "0.0000",
    approved_unpaid: "0.0000",
    in_payout: "0.0000",
    paid_total: "0.0000",
    invoiced_open: null,
  });
  // Of 157.2501: 90 are in a payout, 25 approved, 12 a draft that carried 0.2501 on; a void one counts for nothing.
  await addStatement("EUR", ["in_payout", "90", "0.1", "90"], 1);
  await addStatement("EUR", ["approved", "25", "0.2", "25"], 2);
  await addStatement("EUR", ["void", "77", "0", "77"], 3);
  await addStatement("EUR", ["draft", "12", "0.2501", "12"], 3);
  expect(await partner("EUR")).toMatchObject({
    balance: "157.2501",
    carried: "0.2501",
    draft: "12.0000",
    approved_unpaid: "25.0000",
    in_payout: "90.0000",
    unbilled: "30.0000",
  });
});

test("pending conversions are shown beside the balance, also without one (N33, N45)", async () => {
  await storeConversion(world, { currency: "SEK", payout: "1.5", revenue: "4" });
  await storeConversion(world, { currency: "SEK", payout: "2.25", revenue: "4" });
  await storeConversion(world, { currency: "SEK", payout: "9", status: "rejected" });
  const zero = { balance: "0.0000", unbilled: "0.0000", paid_total: "0.0000" };
  expect(await partner("SEK")).toMatchObject({ ...zero, pending: "3.7500" });
  expect(await advertiser("SEK")).toMatchObject({ ...zero, pending: "8.0000" });
});

test("an advertiser's balance is split as computed by hand (N45)", async () => {
  await earn(world, { revenue: "500", currency: "GBP" });
  const ofAdvertiser = {
    workspace_id: workspaceId,
    advertiser_id: advertiserId,
    currency: "GBP",
  };
  const invoice = {
    ...ofAdvertiser,
    account_id: await accountId("advertiser_receivable", "GBP"),
    terms: "monthly",
    period_from: "2026-01-01",
    timezone: "UTC",
    carried_in: "0",
    due_on: "2026-02-01",
  };
  const amounts = (total: string, carried = "0") => ({
    total: String(Number(total) + Number(carried)),
    payable: total,
    gross: total,
    carried_out: carried,
  });
  const first = await world.insert("invoice", {
    ...invoice,
    ...amounts("300", "0.5"),
    number: "I-1",
    status: "part_paid",
    period_to: "2026-02-01",
    from_seq: 0,
    to_seq: 1,
    paid: "100",
  });
  await world.insert("invoice", {
    ...invoice,
    ...amounts("50", "0.25"),
    status: "draft",
    period_to: "2026-03-01",
    from_seq: 1,
    to_seq: 1,
  });
  const paymentId = await world.insert("advertiser_payment", {
    ...ofAdvertiser,
    amount: "120",
    external_id: "bank-1",
    received_at: "2026-02-10",
  });
  await world.pool.query({
    text: "insert into payment_allocation (payment_id, invoice_id, amount) values ($1, $2, 100)",
    values: [paymentId, first],
  });
  await earnPayment("120");
  // 380 are owed: 200 of the invoice, 50 of the draft, 0.25 carried, 149.75 not billed, less 20 that were paid for no invoice.
  expect(await advertiser("GBP")).toMatchObject({
    balance: "380.0000",
    invoiced_open: "200.0000",
    draft: "50.0000",
    carried: "0.2500",
    unallocated: "20.0000",
    unbilled: "149.7500",
    paid_total: "120.0000",
    in_payout: null,
  });
  const [own] = rowsOf(await world.get("/me/billing?currency=GBP", keys.advertiser));
  expect(own).toEqual({
    currency: "GBP",
    pending: "0.0000",
    balance: "380.0000",
    unbilled: "199.7500",
    carried: "0.2500",
    invoiced_open: "200.0000",
    unallocated: "20.0000",
    paid_total: "120.0000",
  });
});

test("a partner sees its own earnings, and the end of its period (N33)", async () => {
  await world.pool.query({ text: "update affiliate set payment_terms = 'monthly'" });
  const [own] = rowsOf(await world.get("/me/earnings?currency=EUR", keys.partner));
  const now = new Date();
  expect(own).toEqual({
    currency: "EUR",
    pending: "0.0000",
    approved: "157.2501",
    unbilled: "30.0000",
    carried: "0.2501",
    draft: "12.0000",
    approved_unpaid: "25.0000",
    in_payout: "90.0000",
    paid_total: "0.0000",
    next_period_end: new Date(
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
    ).toISOString(),
    approved_since: null,
  });
});

test("with billing off a partner sees what is pending, and what was approved in 90 days (N33)", async () => {
  await world.patch("/billing-settings", { enabled: false });
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  for (const days of [0, 89, 91, 400])
    await storeConversion(world, {
      currency: "SEK",
      payout: days < 90 ? "2" : "100",
      status: "approved",
      conv_ts: ago(days),
    });
  const since: unknown = expect.stringMatching(new RegExp(`^${ago(90).slice(0, 10)}T`));
  expect(rowsOf(await world.get("/me/earnings?currency=SEK", keys.partner))).toEqual([
    {
      currency: "SEK",
      pending: "3.7500",
      approved: "4.0000",
      unbilled: null,
      carried: null,
      draft: null,
      approved_unpaid: null,
      in_payout: null,
      paid_total: null,
      next_period_end: null,
      approved_since: since,
    },
  ]);
  await switchOn(world);
});

test("nobody else sees a balance or an entry: roles, and partners of other workspaces (N43, N45)", async () => {
  for (const path of ["/balances", "/ledger", "/billing/audit", "/billing/unposted"])
    for (const key of [keys.partner, keys.advertiser])
      expect(refusal(await world.get(path, key))).toBe("403 forbidden");
  expect(refusal(await world.get("/me/earnings", keys.admin))).toBe("403 forbidden");
  expect(refusal(await world.get("/me/billing", keys.partner))).toBe("403 forbidden");
  for (const path of [
    "/balances",
    "/balances?kind=advertiser",
    "/ledger",
    `/ledger?owner=${affiliateId}`,
  ])
    expect(rowsOf(await world.get(path, foreign.keys.admin))).toEqual([]);
  expect(rowsOf(await world.get("/me/earnings", foreign.keys.partner))).toEqual([]);
  expect(rowsOf(await world.get("/me/billing", foreign.keys.advertiser))).toEqual([]);
});

test("the ledger is read newest first, by page and as CSV, with the same entries (N45)", async () => {
  await adjust(world, { currency: "NOK", reason: "first" });
  await adjust(world, { currency: "NOK", reason: "second", amount: "-4" });
  const all = rowsOf(await world.get("/ledger?limit=200"));
  const sums = new Map<unknown, number>();
  for (const { transaction_id: id, amount } of all)
    sums.set(id, (sums.get(id) ?? 0) + Math.round(Number(amount) * 10_000));
  expect(new Set(sums.values())).toEqual(new Set([0]));
  for (const query of [
    "",
    `account=partner_payable&owner=${affiliateId}&`,
    "account=revenue&",
    "account=partner_payable&",
  ]) {
    const ids = rowsOf(await world.get(`/ledger?${query}limit=200`)).map(({ id }) => id);
    const paged: unknown[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await world.get(`/ledger?${query}limit=3${from}`);
      paged.push(...rowsOf(page).map(({ id }) => id));
      cursor = nextCursor(page);
    }
    expect(paged).toEqual(ids);
    const csv = await world.get(`/ledger?${query}format=csv`);
    expect(
      csv.text
        .trim()
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(",")[0]),
    ).toEqual(ids);
  }
  const nok = rowsOf(
    await world.get(`/ledger?currency=NOK&account=partner_payable&owner=${affiliateId}`),
  );
  expect(nok.map(({ amount, seq, owner_name: name }) => [amount, seq, name])).toEqual([
    ["4.0000", 2, "Partner"],
    ["-10.0000", 1, "Partner"],
  ]);
  const one = nok[0] ?? {};
  expect(one).toMatchObject({ source_kind: "adjustment", kind: "adjustment", conversion_id: null });
});

test("the entries of a conversion, and of days of the workspace, are found (N45)", async () => {
  const [entry] = rowsOf(await world.get("/ledger?account=revenue&limit=1"));
  const id = String(entry?.["conversion_id"]);
  const found = rowsOf(await world.get(`/ledger?conversion_id=${id}`));
  expect(new Set(found.map(({ account }) => account))).toEqual(
    new Set(["advertiser_receivable", "revenue"]),
  );
  const today = new Date().toISOString().slice(0, 10);
  expect(rowsOf(await world.get(`/ledger?from=${today}&to=${today}&limit=1`))).toHaveLength(1);
  expect(rowsOf(await world.get("/ledger?to=2020-01-01"))).toEqual([]);
});

test.each([
  ["/ledger?account=cash", "account"],
  ["/ledger?owner=x", "owner"],
  ["/ledger?currency=EURO", "currency"],
  ["/ledger?conversion_id=1", "conversion_id"],
  ["/ledger?from=yesterday", "from"],
  ["/ledger?format=xml", "format"],
  ["/ledger?account_id=1", "account_id"],
  ["/balances?kind=partner", "kind"],
  ["/balances?owner_id=0", "owner_id"],
  ["/balances?limit=0", "limit"],
  ["/adjustments?kind=gift", "kind"],
])("the query %s is refused by the name of the parameter (N45)", async (path, param) => {
  const answer = await world.get(path);
  expect([refusal(answer), answer.text.includes(`"param":"${param}"`)]).toEqual([
    "400 invalid_parameter",
    true,
  ]);
});

async function partner(currency: string): Promise<Record<string, unknown> | undefined> {
  const path = `/balances?owner_id=${affiliateId}&currency=${currency}`;
  return rowsOf(await world.get(path))[0];
}

async function advertiser(currency: string): Promise<Record<string, unknown> | undefined> {
  return rowsOf(await world.get(`/balances?kind=advertiser&currency=${currency}`))[0];
}

/** What the advertiser paid, as it is posted. */
async function earnPayment(amount: string): Promise<void> {
  const entry = (account: string, owner: number, sum: string) => ({
    account,
    owner_id: owner,
    currency: "GBP",
    amount: sum,
  });
  await world.rows("select source_id from post_ledger($1, $2)", [
    workspaceId,
    JSON.stringify([
      {
        kind: "payment",
        source_kind: "payment",
        source_id: "1",
        entries: [
          entry("clearing", 0, amount),
          entry("advertiser_receivable", advertiserId, `-${amount}`),
        ],
      },
    ]),
  ]);
}
