import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { auditBilling } from "../../../schemas/billing/audit.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, record, refusal } from "../api/api-world.ts";
import { approvedStatement } from "./statement-rows.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
const { workspaceId } = world.tenant;
const otherAdmin = await insertKey(world.pool, { workspaceId, name: "other", role: "admin" });
const WIRE = { holder: "Anna Example", iban: "DE89 3704 0044 0532 0130 00" };
const RUN = { currency: "EUR", execution_date: "2026-12-15" };

async function partner(fields: Json = { ...WIRE }, method = "wire"): Promise<number> {
  const { id } = record(await world.post("/affiliates", { name: "Anna" }));
  if (Object.keys(fields).length > 0) await pay(Number(id), fields, method);
  await forgetChanges();
  return Number(id);
}

async function pay(id: number, fields: Json, method = "wire", key = world.tenant.keys.admin) {
  const body = { payment_method: method, payment_details: fields };
  return await world.call("PUT", `/affiliates/${id}/payment-method`, { body, key });
}

/** As if the hold after the changes had passed. */
async function forgetChanges(): Promise<void> {
  await world.pool.query({
    text: "update payment_method_change set at = at - interval '30 days'",
  });
}

async function settings(approval: string): Promise<void> {
  await world.pool.query({
    text: `insert into billing_settings (workspace_id, enabled, starts_on, approval, legal)
           values ($1, true, '2026-01-01', $2, '{"name": "Ads & Söhne", "iban": "NL91ABNA0417164300"}')
           on conflict (workspace_id) do update set approval = excluded.approval`,
    values: [workspaceId, approval],
  });
}

const Line = z.looseObject({
  id: z.int(),
  reference: z.string(),
  affiliate_id: z.int(),
  amount: z.string(),
  reason: z.string().nullable(),
});
const Run = z.looseObject({
  id: z.int(),
  status: z.string(),
  total: z.string(),
  lines: z.array(Line),
  held: z.array(Line),
});

async function run(fields: Json = {}, key = world.tenant.keys.admin) {
  const answer = await world.post("/payout-runs", { ...RUN, ...fields }, key);
  expect(answer.status, answer.text).toBe(201);
  return Run.parse(answer.body["data"]);
}

async function approve(id: number, key = world.tenant.keys.admin) {
  const answer = await world.call("POST", `/payout-runs/${id}/approve`, { key });
  expect(answer.status, answer.text).toBe(200);
  return Run.parse(answer.body["data"]);
}

async function send(id: number, ...rows: Json[]) {
  const answer = await world.post(`/payout-runs/${id}/results`, { rows });
  expect(answer.status, answer.text).toBe(200);
  return answer.body["data"];
}

const applied = { applied: 1, unchanged: 0, rejected: [] };
const unchanged = { applied: 0, unchanged: 1, rejected: [] };

/** What is owed to a partner. */
async function owed(affiliateId: number): Promise<string> {
  const { rows } = await world.pool.query<{ owed: string }>({
    text: `select -b.balance as owed from ledger_account a join ledger_balance b on b.account_id = a.id
           where a.kind = 'partner_payable' and a.owner_id = $1`,
    values: [affiliateId],
  });
  return rows[0]?.owed ?? "";
}

async function statusOf(statementId: number): Promise<string> {
  const { rows } = await world.pool.query<{ status: string }>({
    text: "select status from statement where id = $1",
    values: [statementId],
  });
  return rows[0]?.status ?? "";
}

test("a run pays statements that are due, and posts with the result, not before (N52, N55)", async () => {
  const id = await partner();
  const statement = await approvedStatement(world, { affiliateId: id, amount: "1840.5500" });
  await approvedStatement(world, { affiliateId: id, amount: "7", dueOn: "2099-01-01" });
  const draft = await run({ affiliate_ids: [id] });
  expect(draft).toMatchObject({ status: "draft", total: "1840.5500", held: [] });
  expect(draft.lines).toMatchObject([
    { reference: `P${draft.id}L${String(draft.lines[0]?.id)}`, details: { iban: "DE89…3000" } },
  ]);
  expect(refusal(await world.post("/payout-runs", { ...RUN, affiliate_ids: [id] }))).toBe(
    "409 conflict",
  );
  await approve(draft.id);
  expect([await statusOf(statement), await owed(id)]).toEqual(["in_payout", "1847.5500"]);
  const reference = draft.lines[0]?.reference;
  const paid = { reference, status: "paid", external_id: "T1", amount: "1840.55" };
  expect(await send(draft.id, paid)).toEqual(applied);
  expect([await statusOf(statement), await owed(id)]).toEqual(["paid", "7.0000"]);
  for (const _time of [1, 2, 3]) expect(await send(draft.id, paid)).toEqual(unchanged);
  expect(await owed(id)).toBe("7.0000");
  expect(record(await world.get(`/payout-runs/${draft.id}`))["status"]).toBe("paid");
  expect(
    await send(
      draft.id,
      { reference, status: "paid", external_id: "T2" },
      { ...paid, amount: "1840.54" },
      { ...paid, currency: "USD" },
      { reference, status: "failed" },
      { reference: "P0L0", status: "paid" },
      { reference, status: "lost" },
    ),
  ).toMatchObject({
    applied: 0,
    unchanged: 0,
    rejected: [
      { row: 1, fields: { status: "the line is paid already" } },
      { row: 2, fields: { amount: "expected 1840.55, the amount of this line" } },
      { row: 3, fields: { currency: "expected EUR, the currency of this line" } },
      { row: 4, fields: { status: expect.stringContaining("returned") as unknown } },
      { row: 5, fields: { reference: expect.any(String) as unknown } },
      { row: 6, fields: { status: expect.any(String) as unknown } },
    ],
  });
});

test("a payment that fails or comes back is in the next run, and is taken back once (N52, N55)", async () => {
  const id = await partner();
  const statement = await approvedStatement(world, { affiliateId: id, amount: "50" });
  const first = await approve((await run({ affiliate_ids: [id] })).id);
  const failed = { reference: first.lines[0]?.reference, status: "failed", error: "closed" };
  expect(await send(first.id, failed)).toEqual(applied);
  expect([await statusOf(statement), await owed(id)]).toEqual(["approved", "50.0000"]);
  expect(record(await world.get(`/payout-runs/${first.id}`))["status"]).toBe("failed");
  const second = await approve((await run({ affiliate_ids: [id] })).id);
  const reference = second.lines[0]?.reference;
  expect(await send(second.id, { reference, status: "paid", external_id: "B1" })).toEqual(applied);
  const back = { reference, status: "returned", external_id: "B1" };
  expect(await send(second.id, back)).toEqual(applied);
  expect(await send(second.id, back)).toEqual(unchanged);
  expect(await send(second.id, { reference, status: "paid", external_id: "B2" })).toMatchObject({
    applied: 0,
    rejected: [{ row: 1 }],
  });
  expect([await statusOf(statement), await owed(id)]).toEqual(["approved", "50.0000"]);
  const { rows } = await world.pool.query({
    text: "select kind, reverses_id is null as is_first from ledger_transaction where source_id like $1 order by id",
    values: [`${String(second.lines[0]?.id)}/%`],
  });
  expect(rows).toEqual([
    { kind: "payout", is_first: true },
    { kind: "payout_return", is_first: false },
  ]);
  expect(await auditBilling(world.pool, workspaceId)).toEqual([]);
  const third = await run({ affiliate_ids: [id] });
  expect(third.lines).toHaveLength(1);
  expect(refusal(await world.post(`/payout-runs/${third.id}/results`, { rows: [back] }))).toBe(
    "409 conflict",
  );
});

test("a partner without a method is held, whatever methods the run has (N56)", async () => {
  const id = await partner({});
  await approvedStatement(world, { affiliateId: id, amount: "5" });
  const made = await run({ affiliate_ids: [id], methods: ["wire"] });
  expect([made.total, made.held]).toMatchObject([
    "0.0000",
    [{ affiliate_id: id, reason: "details missing" }],
  ]);
  expect(refusal(await world.call("POST", `/payout-runs/${made.id}/approve`))).toBe("409 conflict");
  const release = `/payout-lines/${String(made.held[0]?.id)}/release`;
  expect(refusal(await world.post(release, { reason: "trust me" }))).toBe("409 conflict");
  expect((await world.post(`/payout-runs/${made.id}/cancel`, {})).status).toBe(200);
  expect((await run({ affiliate_ids: [id] })).held).toHaveLength(1);
});

test("details that a stolen key changes twice stay held, also between draft and approval (N32, N56)", async () => {
  const [id, quiet] = [await partner(), await partner()];
  for (const affiliateId of [id, quiet])
    await approvedStatement(world, { affiliateId, amount: "9" });
  const made = await run({ affiliate_ids: [id, quiet] });
  expect(made.lines).toHaveLength(2);
  const key = await insertKey(world.pool, {
    workspaceId,
    name: "p",
    role: "partner",
    affiliateId: id,
  });
  const own = async (fields: Json) =>
    await world.call("PUT", "/me/payment-method", {
      key,
      body: { payment_method: "wire", payment_details: fields },
    });
  expect((await own({ ...WIRE, iban: "GB29NWBK60161331926819" })).status).toBe(200);
  expect((await own(WIRE)).status).toBe(200);
  const approved = await approve(made.id);
  expect(approved.lines.map((line) => line.affiliate_id)).toEqual([quiet]);
  expect(approved.held).toMatchObject([{ affiliate_id: id, reason: "payment method changed" }]);
  expect((await run({ affiliate_ids: [id] })).held).toMatchObject([
    { reason: "payment method changed" },
  ]);
});

test("a change by PATCH of the contract holds, too, and masks are never paid to (N32)", async () => {
  const id = await partner({ account: "anna-account@pay.example" }, "wallet_a");
  await approvedStatement(world, { affiliateId: id, amount: "9" });
  await world.patch(`/affiliates/${id}`, { payment_method: "wallet_b" });
  expect((await run({ affiliate_ids: [id] })).held).toMatchObject([{ reason: "details missing" }]);
  const other = await partner();
  await approvedStatement(world, { affiliateId: other, amount: "9" });
  await world.patch(`/affiliates/${other}`, {
    payment_details: { Holder: "Eve", IBAN: "GB29NWBK60161331926819" },
  });
  const made = await run({ affiliate_ids: [other] });
  expect(made.held).toMatchObject([
    { reason: "payment method changed", details: { iban: "GB29…6819" } },
  ]);
  const released = await world.post(`/payout-lines/${String(made.held[0]?.id)}/release`, {
    reason: "called her",
  });
  expect(released.status, released.text).toBe(200);
  expect((await approve(made.id)).lines).toHaveLength(1);
});

test("of two runs at once, one gets a statement (N52)", async () => {
  const id = await partner();
  await approvedStatement(world, { affiliateId: id, amount: "3" });
  const answers = await Promise.all(
    Array.from(
      { length: 6 },
      async () => await world.post("/payout-runs", { ...RUN, affiliate_ids: [id] }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201, 409, 409, 409, 409, 409,
  ]);
});

test("with four eyes, maker and changer do not approve, and somebody else does (N53)", async () => {
  await settings("four_eyes");
  try {
    const id = await partner();
    await approvedStatement(world, { affiliateId: id, amount: "4" });
    const made = await run({ affiliate_ids: [id] });
    expect(refusal(await world.call("POST", `/payout-runs/${made.id}/approve`))).toBe(
      "403 forbidden",
    );
    await pay(id, { ...WIRE, holder: "Anna E." }, "wire", otherAdmin);
    await world.pool.query({
      text: "update payment_method_change set at = at - interval '3 days' where affiliate_id = $1",
      values: [id],
    });
    const byOther = { key: otherAdmin };
    expect(refusal(await world.call("POST", `/payout-runs/${made.id}/approve`, byOther))).toBe(
      "403 forbidden",
    );
    await forgetChanges();
    await approve(made.id, otherAdmin);
  } finally {
    await settings("single");
  }
});

test("a partner sees its own payouts with masks; others and other workspaces see none (N53)", async () => {
  const id = await partner();
  await approvedStatement(world, { affiliateId: id, amount: "6" });
  const key = await insertKey(world.pool, {
    workspaceId,
    name: "p",
    role: "partner",
    affiliateId: id,
  });
  const made = await run({ affiliate_ids: [id] });
  expect(list(await world.get("/me/payouts", key))).toEqual([]);
  await approve(made.id);
  expect(list(await world.get("/me/payouts", key))).toMatchObject([
    { amount: "6.0000", status: "pending", details: { iban: "DE89…3000" } },
  ]);
  expect(list(await world.get("/me/payouts", world.tenant.keys.partner))).toEqual([]);
  const paths = [`/payout-runs/${made.id}`, "/payout-runs", `/affiliates/${id}/payment-method`];
  for (const path of paths) {
    for (const role of ["partner", "advertiser"] as const)
      expect(refusal(await world.get(path, world.tenant.keys[role])), path).toBe("403 forbidden");
  }
  expect(refusal(await world.get(`/payout-runs/${made.id}`, foreign.keys.admin))).toBe(
    "404 not_found",
  );
  expect(refusal(await world.post(`/payout-runs/${made.id}/cancel`, {}, foreign.keys.admin))).toBe(
    "404 not_found",
  );
  const seen = await world.get(`/payout-runs/${made.id}`, world.tenant.keys.analyst);
  expect(seen.status).toBe(200);
  expect(seen.text).not.toContain("DE89");
});

test("details are sealed in the database and masked in answers; wrong ones are refused by name (N9, N32)", async () => {
  const id = await partner({ ...WIRE, iban: "FR1420041010050500013M02606", bic: "PSSTFRPPXXX" });
  const answer = await world.get(`/affiliates/${id}/payment-method`);
  expect(
    record({ ...answer, body: { data: { id, ...z.looseObject({}).parse(answer.body["data"]) } } }),
  ).toMatchObject({
    payment_details: { holder: "Anna Example", iban: "FR14…2606", bic: "PSSTFRPPXXX" },
    has_details: true,
  });
  const { rows } = await world.pool.query<{ text: string }>({
    text: `select (select string_agg(f::text, ' ') from affiliate f) || (select string_agg(encode(sealed, 'escape'), ' ') from payment_account)
             || (select coalesce(string_agg(action, ' '), '') from audit_log) as text`,
  });
  expect(rows[0]?.text).not.toContain("20041010050500013");
  const wrong: [Json, string][] = [
    [{ ...WIRE, iban: "DE89370400440532013001" }, "payment_details.iban"],
    [{ iban: WIRE.iban }, "payment_details.holder"],
    [{ ...WIRE, bic: "X" }, "payment_details.bic"],
    [{ holder: "A", account_number: "1" }, "payment_details.bank_code"],
    [{ ...WIRE, account: "x" }, "payment_details.account"],
  ];
  for (const [fields, name] of wrong)
    expect(Object.keys(details(await pay(id, fields)).fields)).toContain(name);
});

test("a partner does not set its own tax rate (N32)", async () => {
  const body = (tax: Json) => ({
    key: world.tenant.keys.partner,
    body: { payment_method: "other", tax },
  });
  const refused = await world.call(
    "PUT",
    "/me/payment-method",
    body({ mode: "domestic", rate: "100" }),
  );
  expect(Object.keys(details(refused).fields)).toEqual(["tax.mode", "tax.rate"]);
  const taken = await world.call(
    "PUT",
    "/me/payment-method",
    body({ country: "DE", vat_id: "DE123456789" }),
  );
  expect(taken.body["data"]).toMatchObject({
    tax: { country: "DE", vat_id: "DE123456789", mode: "none" },
  });
});
