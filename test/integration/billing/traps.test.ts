import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { afterAllPosted } from "../../system/until.ts";
import { ApiWorld, type Json, record, refusal } from "../api/api-world.ts";
import { Books } from "./books.ts";

/** What networks lose money by in other systems, one test each: real conversions, posted by the lane, and everything else by the API. */
const world = await forThisFile(ApiWorld.open());
const books = await Books.within(world);
await books.enable();
const lane = books.startLane();
world.atEnd(() => lane.close());
const { workspaceId, advertiserId } = books;
const admin = await insertKey(world.pool, { workspaceId, name: "admin", role: "admin" });
const RUN = { currency: "EUR", execution_date: "2026-12-15", due_until: "2099-12-31" };
const WIRE = { holder: "Anna Example", iban: "DE89370400440532013000" };

const Line = z.looseObject({
  line: z.int(),
  kind: z.string(),
  amount: z.string(),
  count: z.int(),
  of_statement_number: z.string().nullable(),
});
const Statement = z.looseObject({
  id: z.int(),
  number: z.string().nullable(),
  status: z.string(),
  currency: z.string(),
  total: z.string(),
  min_payout: z.string().nullable(),
  carried_in: z.string(),
  carried_out: z.string(),
  lines: z.array(Line),
});
const PayoutLine = z.looseObject({
  id: z.int(),
  reference: z.string(),
  affiliate_id: z.int(),
  amount: z.string(),
  currency: z.string(),
  reason: z.string().nullable(),
});
const Run = z.looseObject({
  id: z.int(),
  total: z.string(),
  lines: z.array(PayoutLine),
  held: z.array(PayoutLine),
});
const Preview = z.looseObject({
  held: z.array(z.looseObject({ affiliate_id: z.int(), amount: z.string(), reason: z.string() })),
});
const Entries = z.array(z.looseObject({ amount: z.string(), kind: z.string() }));

async function done(method: string, path: string, body?: Json): Promise<Json> {
  const answer = await world.call(method, path, { key: admin, body });
  expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
  return z.record(z.string(), z.unknown()).parse(answer.body["data"]);
}

async function partner(fields: Json = {}, details: Json | null = WIRE): Promise<number> {
  const { id } = await done("POST", "/affiliates", { name: "Anna", currency: "EUR", ...fields });
  if (details !== null) {
    const body = { payment_method: "wire", payment_details: details };
    await done("PUT", `/affiliates/${String(id)}/payment-method`, body);
    await world.rows("update payment_method_change set at = at - interval '30 days'");
  }
  return Number(id);
}

async function earn(affiliateId: number, payout: string, fields: Json = {}): Promise<string> {
  const id = await books.convert({ affiliate_id: affiliateId, payout, ...fields });
  await books.untilPosted();
  return id;
}

/** Everything of the partner until now. */
async function close(affiliateId: number): Promise<z.infer<typeof Statement>[]> {
  const until = new Date().toISOString().slice(0, 10);
  const closed = await done("POST", "/statements/close", { affiliate_id: affiliateId, until });
  return z.array(Statement).parse(closed["statements"]);
}

async function approved(affiliateId: number): Promise<z.infer<typeof Statement>> {
  const [draft] = await close(affiliateId);
  return Statement.parse(await done("POST", `/statements/${draft?.id ?? 0}/approve`));
}

async function runOf(affiliateIds: readonly number[], fields: Json = {}) {
  const body = { ...RUN, affiliate_ids: affiliateIds, ...fields };
  return Run.parse(await done("POST", "/payout-runs", body));
}

/** Approves the run and sends what the bank says of its one line. */
async function settle(run: z.infer<typeof Run>, status: string): Promise<void> {
  await done("POST", `/payout-runs/${run.id}/approve`);
  const result = { reference: run.lines[0]?.reference, status, external_id: `bank-${run.id}` };
  const answer = await done("POST", `/payout-runs/${run.id}/results`, { rows: [result] });
  expect(answer).toMatchObject({ applied: 1, rejected: [] });
}

async function statement(id: number): Promise<z.infer<typeof Statement>> {
  return Statement.parse(await done("GET", `/statements/${id}`));
}

test("trap 1: a refund after the payout is taken back once, on the next statement only (N44)", async () => {
  const id = await partner();
  const refunded = await earn(id, "10");
  const first = await approved(id);
  await settle(await runOf([id]), "paid");
  const paid = await statement(first.id);
  await books.change(refunded, { status: "rejected" });
  await books.untilPosted();
  const [debt] = z.array(z.looseObject({ balance: z.string() })).parse(await listedBalances(id));
  expect(debt?.balance).toBe("-10.0000");
  await earn(id, "25");
  const second = await approved(id);
  expect(second.total).toBe("15.0000");
  expect(
    second.lines.map(({ kind, amount, of_statement_number: of }) => [kind, amount, of]),
  ).toEqual(
    expect.arrayContaining([
      ["conversions", "25.0000", null],
      ["clawback", "-10.0000", first.number],
    ]),
  );
  await settle(await runOf([id]), "paid");
  await earn(id, "5");
  const third = await approved(id);
  expect([third.total, third.carried_in]).toEqual(["5.0000", "0.0000"]);
  expect(third.lines.map(({ kind }) => kind)).toEqual(["conversions"]);
  expect(await statement(first.id)).toEqual(paid);
  expect(await books.audit()).toEqual([]);
});

test("trap 2: a transfer that failed or came back is in the next run, with its whole amount (N52)", async () => {
  const id = await partner();
  await earn(id, "40");
  const owed = await approved(id);
  for (const status of ["failed", "paid"]) {
    const run = await runOf([id]);
    expect(run.lines).toMatchObject([{ affiliate_id: id, amount: "40.0000" }]);
    await settle(run, status);
  }
  expect((await statement(owed.id)).status).toBe("paid");
  const [settled] = z
    .array(z.looseObject({ id: z.int(), reference: z.string(), run_id: z.int() }))
    .parse(
      await world.rows(
        "select l.id::int, l.run_id::int, 'P' || l.run_id || 'L' || l.id as reference from payout_line l where affiliate_id = $1 and status = 'paid'",
        [id],
      ),
    );
  const back = {
    reference: settled?.reference,
    status: "returned",
    external_id: `bank-${settled?.run_id ?? 0}`,
  };
  await done("POST", `/payout-runs/${settled?.run_id ?? 0}/results`, { rows: [back] });
  expect((await runOf([id])).lines).toMatchObject([{ affiliate_id: id, amount: "40.0000" }]);
  expect(await books.audit()).toEqual([]);
});

test("trap 3: a partner without a method is in the preview and the run, held with the reason (N56)", async () => {
  const [without, other] = [await partner({}, null), await partner()];
  for (const id of [without, other]) {
    await earn(id, "30");
    await approved(id);
  }
  const held = [{ affiliate_id: without, amount: "30.0000", reason: "details missing" }];
  for (const query of ["", "&methods=wire", "&format=pain001"]) {
    const preview = Preview.parse(
      await done("GET", `/payout-runs/due?currency=EUR&due_until=2099-12-31${query}`),
    );
    expect(preview.held.filter((line) => line.affiliate_id === without)).toMatchObject(held);
  }
  const run = await runOf([without, other], { methods: ["wire"] });
  expect([run.held, run.lines]).toMatchObject([held, [{ affiliate_id: other }]]);
  await settle(run, "paid");
  const after = Run.parse(await done("GET", `/payout-runs/${run.id}`));
  expect(after.held).toMatchObject(held);
  expect((await runOf([without])).held).toMatchObject(held);
});

test("trap 4: the minimum is shown and applied in the units of every amount, and of the statement (N48)", async () => {
  const id = await partner({ min_payout: "50" });
  expect(await done("GET", `/affiliates/${id}`)).toMatchObject({ min_payout: "50.0000" });
  await earn(id, "49.9999");
  expect(await close(id)).toMatchObject([
    { status: "carried", min_payout: "50.0000", total: "49.9999", carried_out: "49.9999" },
  ]);
  await earn(id, "0.0001");
  expect(await close(id)).toMatchObject([
    { status: "draft", min_payout: "50.0000", total: "50.0000", payable: "50.0000" },
  ]);
  await world.rows(
    "insert into workspace_fx_rate (workspace_id, date, currency, rate) values ($1, current_date, 'JPY', 160), ($1, current_date, 'KWD', 0.35)",
    [workspaceId],
  );
  for (const [currency, below, enough, least] of [
    ["JPY", "7999", "1", "8000.0000"],
    ["KWD", "17.4", "0.1", "17.5000"],
  ] as const) {
    await earn(id, below, { currency });
    expect(await close(id)).toMatchObject([{ currency, status: "carried", min_payout: least }]);
    await earn(id, enough, { currency });
    expect(await close(id)).toMatchObject([{ currency, status: "draft", total: least }]);
  }
});

test("trap 5: a paid invoice stays as it is, whatever is read, posted or closed again (N8, N58)", async () => {
  const id = await partner();
  const changed = await earn(id, "10", { revenue: "100" });
  const closeAll = async () =>
    z.array(z.looseObject({ id: z.int(), total: z.string() })).parse(
      (
        await done("POST", "/invoices/close", {
          advertiser_id: advertiserId,
          until: await afterAllPosted(),
        })
      )["invoices"],
    );
  const [draft] = await closeAll();
  const path = `/invoices/${draft?.id ?? 0}`;
  const gross = record({ ...(await world.call("POST", `${path}/approve`, { key: admin })) })[
    "gross"
  ];
  await done("POST", "/payments", {
    advertiser_id: advertiserId,
    currency: "EUR",
    amount: String(gross),
    external_id: "trap",
    received_at: new Date().toISOString(),
  });
  const seen = async () => [
    (await world.get(path, admin)).text,
    (await world.get(`${path}/files/csv`, admin)).text,
    (await world.get(`${path}/files/html`, admin)).text,
  ];
  const paid = await seen();
  expect(record(await world.get(path, admin))).toMatchObject({ status: "paid", open: "0.0000" });
  await books.change(changed, { revenue: "70" });
  await books.change(changed, { status: "rejected" });
  await books.change(changed, { status: "approved", revenue: "130" });
  await books.untilPosted();
  await done("PUT", `/advertisers/${advertiserId}/tax`, { mode: "domestic", rate: "19" });
  await done("PATCH", "/billing-settings", { legal: { name: "Renamed Ltd" } });
  const [next] = await closeAll();
  expect(next?.total).toBe("30.0000");
  expect(await books.audit()).toEqual([]);
  expect(await seen()).toEqual(paid);
  expect(refusal(await world.call("POST", `${path}/void`, { key: admin }))).toBe("409 conflict");
});

test("trap 6: each adjustment is in the total and among the rows behind it, once (N43, N50)", async () => {
  const id = await partner();
  const own = await insertKey(world.pool, {
    workspaceId,
    name: "p",
    role: "partner",
    affiliateId: id,
  });
  await earn(id, "20");
  for (const [kind, amount, visible] of [
    ["bonus", "7.5", true],
    ["deduction", "-2.25", true],
    ["correction", "1", false],
    ["bounty", "3", true],
  ] as const) {
    const more = { reason: "as agreed", visible };
    await done("POST", "/adjustments", {
      affiliate_id: id,
      currency: "EUR",
      amount,
      kind,
      ...more,
    });
  }
  const made = await approved(id);
  expect(made.total).toBe("29.2500");
  for (const [root, key] of [
    ["/statements", admin],
    ["/me/statements", own],
  ] as const) {
    const amounts: string[] = [];
    for (const { line, amount } of made.lines) {
      const answer = await world.get(`${root}/${made.id}/lines/${line}/entries`, key);
      const rows = Entries.parse(answer.body["data"]);
      expect(sum(rows.map((row) => row.amount)), `line ${line}`).toBe(amount);
      amounts.push(...rows.map((row) => row.amount));
    }
    expect(amounts.toSorted()).toEqual(["-2.2500", "1.0000", "20.0000", "3.0000", "7.5000"]);
    const csv = (await world.get(`${root}/${made.id}/files/csv`, key)).text;
    for (const amount of amounts) expect(csv.split(amount)).toHaveLength(2);
  }
  const ledger = await world.get(`/ledger?account=partner_payable&owner=${id}&currency=EUR`, admin);
  expect(Entries.parse(ledger.body["data"])).toHaveLength(5);
  expect(await listedBalances(id)).toMatchObject([
    { balance: "29.2500", approved_unpaid: "29.2500" },
  ]);
});

test("trap 7: a partner is paid in the currency it earned, whatever currency is shown (N52, N57)", async () => {
  const id = await partner({ currency: "GBP" });
  await earn(id, "80");
  const shown = await world.get("/reports?group_by=affiliate&preset=today&currency=GBP", admin);
  expect(shown.status, shown.text).toBe(200);
  const made = await approved(id);
  expect([made.currency, made.total]).toEqual(["EUR", "80.0000"]);
  for (const currency of ["GBP", "USD"]) {
    await done("PATCH", `/affiliates/${id}`, { currency });
    const body = { ...RUN, currency, affiliate_ids: [id] };
    expect(refusal(await world.post("/payout-runs", body, admin))).toBe("409 conflict");
  }
  const run = await runOf([id]);
  expect(run.lines).toMatchObject([{ currency: "EUR", amount: "80.0000" }]);
  await done("POST", `/payout-runs/${run.id}/approve`);
  const file = await world.get(`/payout-runs/${run.id}/export?format=csv`, admin);
  expect(file.text).toContain(",EUR,80.00");
  expect(await listedBalances(id)).toMatchObject([{ currency: "EUR", balance: "80.0000" }]);
});

async function listedBalances(affiliateId: number): Promise<unknown> {
  const answer = await world.get(`/balances?kind=affiliate&owner_id=${affiliateId}`, admin);
  return answer.body["data"];
}

function sum(amounts: readonly string[]): string {
  const total = amounts.reduce((units, amount) => units + BigInt(amount.replace(".", "")), 0n);
  const text = (total < 0n ? -total : total).toString().padStart(5, "0");
  return `${total < 0n ? "-" : ""}${text.slice(0, -4)}.${text.slice(-4)}`;
}
