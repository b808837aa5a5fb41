import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, record, refusal } from "../api/api-world.ts";
import { adjust, dataOf, rowsOf, switchOn } from "./billing-world.ts";

const world = await forThisFile(ApiWorld.open());
const { keys } = world.tenant;

test("billing is off until it is set, and then nothing is posted (N2, N36)", async () => {
  expect(dataOf(await world.get("/billing-settings"))).toEqual({
    enabled: false,
    starts_on: null,
    has_entries: false,
    legal: { name: "", address: "", vat_id: "", iban: "", bic: "" },
    approval: "single",
    auto_approve: false,
    statement_prefix: "S-{year}-",
    invoice_prefix: "I-{year}-",
    period_grace_hours: 2,
    payment_change_hold_hours: 48,
    wallet_names: { wallet_a: "", wallet_b: "" },
    default_tax_text: "",
    language: "en",
    payout_currency: "offer",
    audited_at: null,
    violations: 0,
    updated_at: null,
  });
  const refused = await adjust(world);
  expect([refusal(refused), details(refused).field]).toEqual(["409 conflict", "enabled"]);
  expect(await world.rows("select id from ledger_transaction")).toEqual([]);
  expect(await world.rows("select id from adjustment")).toEqual([]);
});

test.each([
  [{ enabled: true }, "starts_on"],
  [{ starts_on: "2026-02-30" }, "starts_on"],
  [{ starts_on: null }, "starts_on"],
  [{ approval: "six_eyes" }, "approval"],
  [{ payout_currency: "partner" }, "payout_currency"],
  [{ legal: { iban: "DE 1" } }, "legal.iban"],
  [{ legal: { bic: "x" } }, "legal.bic"],
  [{ legal: { nmae: "x" } }, "legal.nmae"],
  [{ statement_prefix: "S #" }, "statement_prefix"],
  [{ period_grace_hours: 169 }, "period_grace_hours"],
  [{ payment_change_hold_hours: -1 }, "payment_change_hold_hours"],
  [{ language: "english" }, "language"],
  [{ violations: 0 }, "violations"],
])("the settings %j are refused by the name of the field (N36)", async (body, field) => {
  const answer = await world.patch("/billing-settings", body);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(Object.keys(details(answer).fields)).toEqual([field]);
  expect(dataOf(await world.get("/billing-settings"))["enabled"]).toBe(false);
});

test("the first day can be changed until something is posted (N36)", async () => {
  const legal = { name: "Network GmbH", iban: "DE89370400440532013000", bic: "COBADEFFXXX" };
  const settings = { enabled: true, starts_on: "2026-03-01", legal, approval: "four_eyes" };
  const answer = await world.patch("/billing-settings", settings);
  expect(dataOf(answer)).toMatchObject({ ...settings, legal: { ...legal, address: "" } });
  const switched = "select enabled_xid is not null as is_on, enabled_xid from billing_settings";
  const [first] = await world.rows(switched);
  expect(first?.["is_on"]).toBe(true);
  await world.patch("/billing-settings", { language: "de" });
  expect(await world.rows(switched)).toEqual([first]);
  expect((await world.patch("/billing-settings", { starts_on: "2026-01-01" })).status).toBe(200);
  expect((await world.rows(switched))[0]?.["enabled_xid"]).not.toBe(first?.["enabled_xid"]);
  expect((await adjust(world)).status).toBe(201);
  const refused = await world.patch("/billing-settings", { starts_on: "2026-01-02" });
  expect([refusal(refused), details(refused).field]).toEqual(["409 conflict", "starts_on"]);
  expect((await world.patch("/billing-settings", { starts_on: "2026-01-01" })).status).toBe(200);
});

test("billing can be switched on after a payment of an advertiser was entered (N36)", async () => {
  const other = await world.addTenant("opened");
  const key = other.keys.admin;
  const body = {
    advertiser_id: other.advertiserId,
    currency: "USD",
    amount: "5",
    external_id: "bank-early",
    received_at: "2026-01-05T00:00:00.000Z",
  };
  expect((await world.call("POST", "/payments", { key, body })).status).toBe(201);
  const settings = await world.get("/billing-settings", key);
  expect(dataOf(settings)).toMatchObject({ enabled: false, starts_on: null, has_entries: true });
  const first = { enabled: true, starts_on: "2026-02-01" };
  expect((await world.patch("/billing-settings", first, key)).status).toBe(200);
  const refused = await world.patch("/billing-settings", { starts_on: "2026-02-02" }, key);
  expect([refusal(refused), details(refused).field]).toEqual(["409 conflict", "starts_on"]);
});

test("what was before and after a change of the settings is kept (N13)", async () => {
  const other = await world.addTenant("changed");
  const key = other.keys.admin;
  await world.patch("/billing-settings", { language: "fr", auto_approve: false }, key);
  await world.patch("/billing-settings", { language: "fr" }, key);
  await world.patch("/billing-settings", { approval: "four_eyes", language: "de" }, key);
  const query = "/changes?resource=billing-settings";
  const changes = rowsOf(await world.get(query, other.keys.analyst));
  expect(changes.map(({ before, after }) => [before, after])).toEqual([
    [
      { approval: "single", language: "fr" },
      { approval: "four_eyes", language: "de" },
    ],
    [{ language: "en" }, { language: "fr" }],
  ]);
  const narrowed = await world.post("/keys", { role: "admin", permissions: ["reports.read"] }, key);
  expect(refusal(await world.get(query, String(record(narrowed)["key"])))).toBe("403 forbidden");
  expect(rowsOf(await world.get(`${query}&to=2020-01-01`, key))).toEqual([]);
});

test("two first changes at a time both count (N36)", async () => {
  const other = await world.addTenant("twofirst");
  await Promise.all([
    world.patch("/billing-settings", { language: "fr" }, other.keys.admin),
    world.patch("/billing-settings", { period_grace_hours: 9 }, other.keys.admin),
  ]);
  expect(dataOf(await world.get("/billing-settings", other.keys.admin))).toMatchObject({
    language: "fr",
    period_grace_hours: 9,
  });
});

test("analysts read the settings, accounts and narrowed keys do not (N3, N36)", async () => {
  expect((await world.get("/billing-settings", keys.analyst)).status).toBe(200);
  expect(refusal(await world.patch("/billing-settings", {}, keys.analyst))).toBe(
    "403 read_only_key",
  );
  const made = await world.post("/keys", { role: "admin", permissions: ["reports.read"] });
  for (const key of [keys.partner, keys.advertiser, String(record(made)["key"])]) {
    expect(refusal(await world.get("/billing-settings", key))).toBe("403 forbidden");
    expect(refusal(await world.patch("/billing-settings", {}, key))).toBe("403 forbidden");
  }
});

test("an audit says what contradicts the books, and the settings keep it (N42)", async () => {
  const other = await world.addTenant("audited");
  const audit = async () => dataOf(await world.get("/billing/audit", other.keys.analyst));
  await switchOn(world, other);
  const body = { affiliate_id: other.affiliateId };
  await adjust(world, body, { key: other.keys.admin });
  expect((await audit())["violations"]).toEqual([]);
  const shift = (by: string) =>
    world.rows(`update ledger_balance set balance = balance + ${by} where account_id in
         (select id from ledger_account where workspace_id = ${other.workspaceId} and kind = 'partner_payable')`);
  await shift("0.0001");
  expect((await audit())["violations"]).toMatchObject([
    { invariant: "I2" },
    { invariant: "I3" },
    { invariant: "I5" },
  ]);
  expect(dataOf(await world.get("/billing-settings", other.keys.admin))["violations"]).toBe(3);
  await shift("-0.0001");
  expect((await audit())["violations"]).toEqual([]);
  expect(dataOf(await world.get("/billing-settings", other.keys.admin))["violations"]).toBe(0);
  expect(rowsOf(await world.get("/billing/unposted", other.keys.admin))).toEqual([]);
});
