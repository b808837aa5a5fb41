import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, record, refusal } from "../api/api-world.ts";
import { adjust, earn, rowsOf, storeConversion, switchOn } from "./billing-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
await switchOn(world);
await switchOn(world, foreign);
const { keys, affiliateId, advertiserId, affiliateCode } = world.tenant;

async function balance(currency: string, kind = "partner_payable"): Promise<unknown> {
  const rows =
    await world.rows(`select b.balance from ledger_account a join ledger_balance b on b.account_id = a.id
     where a.workspace_id = ${world.tenant.workspaceId} and a.kind = '${kind}' and a.currency = '${currency}'`);
  return rows[0]?.["balance"];
}

test("a positive amount gives the partner more, or makes the advertiser owe more (N43)", async () => {
  const made = await adjust(world, {
    amount: "12.5",
    currency: "EUR",
    affiliate_id: affiliateCode,
  });
  expect(made.status).toBe(201);
  expect(record(made)).toMatchObject({
    affiliate_id: affiliateId,
    affiliate_name: "Partner",
    advertiser_id: null,
    amount: "12.5000",
    kind: "bonus",
    reverses_id: null,
    reversed_by_id: null,
  });
  expect(await balance("EUR")).toBe("-12.5000");
  expect(await balance("EUR", "adjustment_cost")).toBe("12.5000");
  await adjust(world, { amount: "-2.0001", currency: "EUR", kind: "deduction" });
  expect(await balance("EUR")).toBe("-10.4999");
  const owner = { affiliate_id: null, advertiser_id: advertiserId };
  await adjust(world, { ...owner, amount: "7", currency: "EUR", kind: "opening" });
  expect(await balance("EUR", "advertiser_receivable")).toBe("7.0000");
  expect(await balance("EUR", "adjustment_cost")).toBe("3.4999");
});

test("an adjustment is reversed once, also by 20 at a time, and a reversal is not (N43)", async () => {
  const made = record(await adjust(world, { amount: "3", currency: "GBP" }));
  const path = `/adjustments/${made.id}`;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => world.call("POST", `${path}/reverse`)),
  );
  const [done, ...others] = answers.toSorted((a, b) => a.status - b.status);
  expect(done?.status).toBe(201);
  expect(new Set(others.map(refusal))).toEqual(new Set(["409 conflict"]));
  const reversal = record(await world.get("/adjustments?currency=GBP&limit=1").then(firstOf));
  expect(reversal).toMatchObject({ amount: "-3.0000", reverses_id: made.id, kind: "bonus" });
  expect(record(await world.get(path))["reversed_by_id"]).toBe(reversal.id);
  expect(refusal(await world.call("POST", `/adjustments/${reversal.id}/reverse`))).toBe(
    "409 conflict",
  );
  expect(await balance("GBP")).toBe("0.0000");
  expect(
    await world.rows(`select r.reverses_id = t.id as names_first from ledger_transaction t
       join ledger_transaction r on r.source_kind = 'adjustment' and r.source_id = '${reversal.id}'
       where t.source_kind = 'adjustment' and t.source_id = '${made.id}'`),
  ).toEqual([{ names_first: true }]);
});

test("a write-off ends a balance below 0 and never goes beyond it, also by 10 at a time (N44)", async () => {
  await earn(world, { payout: "-5", currency: "CHF" });
  const off = { kind: "write_off", currency: "CHF" };
  const tooMuch = await adjust(world, { ...off, amount: "5.0001" });
  expect([refusal(tooMuch), details(tooMuch).field]).toEqual(["409 conflict", "amount"]);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => adjust(world, { ...off, amount: "2" })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(await balance("CHF")).toBe("1.0000");
  expect((await adjust(world, { ...off, amount: "1" })).status).toBe(201);
  expect(await balance("CHF")).toBe("0.0000");
  expect((await adjust(world, { ...off, amount: "0.0001" })).status).toBe(409);
  const kinds = await world.rows(
    "select count(*)::int from ledger_transaction where kind = 'write_off'",
  );
  expect(kinds).toEqual([{ count: 3 }]);
});

const ofAdvertiser = { affiliate_id: null, advertiser_id: advertiserId };
test.each<[string, Record<string, unknown>, string]>([
  ["nobody", { affiliate_id: null }, "affiliate_id"],
  ["both", { advertiser_id: advertiserId }, "affiliate_id"],
  ["an unknown partner", { affiliate_id: "NOBODY" }, "affiliate_id"],
  ["a partner of another workspace", { affiliate_id: foreign.affiliateId }, "affiliate_id"],
  [
    "an advertiser of another workspace",
    { ...ofAdvertiser, advertiser_id: foreign.advertiserId },
    "advertiser_id",
  ],
  ["an amount of 0", { amount: "-0.0000" }, "amount"],
  ["five decimals", { amount: "1.00001" }, "amount"],
  ["an exponent", { amount: "1e3" }, "amount"],
  ["no currency", { currency: "EURO" }, "currency"],
  ["an unknown kind", { kind: "gift" }, "kind"],
  ["an empty reason", { reason: "  " }, "reason"],
  ["a long reason", { reason: "x".repeat(501) }, "reason"],
  ["a faulty conversion", { conversion_id: "7" }, "conversion_id"],
  [
    "an unknown conversion",
    { conversion_id: "00000000-0000-4000-8000-000000000000" },
    "conversion_id",
  ],
  ["a negative write-off", { kind: "write_off", amount: "-1" }, "amount"],
  ["a write-off of an advertiser", { ...ofAdvertiser, kind: "write_off" }, "kind"],
  ["a field of the answer", { reverses_id: 1 }, "reverses_id"],
])(
  "an adjustment for %s is refused by the name of the field (N43)",
  async (_name, fields, field) => {
    const before = await world.rows("select count(*) from ledger_transaction");
    const answer = await adjust(world, fields);
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields)).toEqual([field]);
    expect(await world.rows("select count(*) from ledger_transaction")).toEqual(before);
  },
);

test("an adjustment may name a conversion of the account only (N43)", async () => {
  const id = await storeConversion(world);
  expect(record(await adjust(world, { conversion_id: id, currency: "SEK" }))["conversion_id"]).toBe(
    id,
  );
  const other = await storeConversion(world, { affiliate_id: null });
  expect((await adjust(world, { conversion_id: other, currency: "SEK" })).status).toBe(400);
});

test("accounts see their own visible adjustments, without who made them (N43)", async () => {
  const seen = record(await adjust(world, { currency: "NOK", reason: "seen" }));
  const hidden = record(await adjust(world, { currency: "NOK", reason: "hidden", visible: false }));
  await adjust(world, { ...ofAdvertiser, currency: "NOK", reason: "other" });
  const list = async (key: string) => rowsOf(await world.get("/adjustments?currency=NOK", key));
  expect((await list(keys.analyst)).map(({ reason }) => reason)).toEqual([
    "other",
    "hidden",
    "seen",
  ]);
  const own = await list(keys.partner);
  expect(own.map(({ reason }) => reason)).toEqual(["seen"]);
  for (const name of ["key_id", "person_id", "visible", "advertiser_id"])
    expect(own[0]).not.toHaveProperty(name);
  expect((await list(keys.advertiser)).map(({ reason }) => reason)).toEqual(["other"]);
  expect(await list(foreign.keys.partner)).toEqual([]);
  expect(await list(foreign.keys.admin)).toEqual([]);
  expect((await world.get(`/adjustments/${seen.id}`, keys.partner)).status).toBe(200);
  for (const key of [keys.advertiser, foreign.keys.partner, foreign.keys.admin])
    expect(refusal(await world.get(`/adjustments/${seen.id}`, key))).toBe("404 not_found");
  expect(refusal(await world.get(`/adjustments/${hidden.id}`, keys.partner))).toBe("404 not_found");
  expect(refusal(await world.get("/adjustments?affiliate_id=1", keys.partner))).toBe(
    "400 invalid_parameter",
  );
  const reverse = `/adjustments/${seen.id}/reverse`;
  expect(refusal(await world.call("POST", reverse, { key: keys.partner }))).toBe("403 forbidden");
  expect(refusal(await world.call("POST", reverse, { key: keys.analyst }))).toBe(
    "403 read_only_key",
  );
  expect(refusal(await world.call("POST", reverse, { key: foreign.keys.admin }))).toBe(
    "404 not_found",
  );
});

test("adjustments are filtered by account, kind, currency and day of the workspace (N43)", async () => {
  const today = new Date().toISOString().slice(0, 10);
  await adjust(world, { ...ofAdvertiser, currency: "DKK", kind: "correction" });
  const count = async (query: string) => rowsOf(await world.get(`/adjustments?${query}`)).length;
  expect(await count("currency=DKK")).toBe(1);
  expect(await count(`currency=DKK&advertiser_id=${advertiserId}&kind=correction`)).toBe(1);
  expect(await count(`currency=DKK&affiliate_id=${affiliateId}`)).toBe(0);
  expect(await count(`currency=DKK&from=${today}&to=${today}`)).toBe(1);
  expect(await count("currency=DKK&to=2020-01-01")).toBe(0);
});

function firstOf(answer: Awaited<ReturnType<typeof world.get>>) {
  return { ...answer, body: { data: rowsOf(answer)[0] } };
}
