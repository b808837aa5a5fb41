import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as wholeText } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { storedFile } from "../../../api/workspace/imports/stored-file.ts";
import { countByKey, resealAll } from "../../../schemas/secrets/sealed-columns.ts";
import { newSecretKey, SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import { SECRETS_KEY, secretKeys } from "../../samples/secret-keys.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, type Json, record, refusal, textWith } from "../api/api-world.ts";
import { imported } from "../api/import-calls.ts";
import { runCommandOn } from "../api/run-tracker.ts";
import { approvedStatement } from "./statement-rows.ts";

const world = await forThisFile(ApiWorld.open());
const { workspaceId } = world.tenant;
const folder = mkdtempSync(join(tmpdir(), "tracker-keys-"));
const file = join(folder, "secrets.key");
writeFileSync(file, `${SECRETS_KEY}\n`, { mode: 0o600 });
afterAll(() => rmSync(folder, { recursive: true }));
const ring = { read: () => readFileSync(file, "utf8"), file };
const IBAN = "DE89370400440532013000";
const FILE_IBAN = "NL91ABNA0417164300";
const TEXTS_IBAN = "FR1420041010050500013M02606";
const RUN = { currency: "EUR", execution_date: "2026-12-15" };
const Run = z.looseObject({
  id: z.int(),
  held: z.array(z.looseObject({ reason: z.string(), affiliate_id: z.int() })),
});

await world.pool.query({
  text: "insert into billing_settings (workspace_id, enabled, starts_on) values ($1, true, '2026-01-01')",
  values: [workspaceId],
});

async function partner(fields: Json = { holder: "Anna", iban: IBAN }): Promise<number> {
  const id = Number(record(await world.post("/affiliates", { name: "Anna" }))["id"]);
  const body = { payment_method: "wire", payment_details: fields };
  const put = await world.call("PUT", `/affiliates/${id}/payment-method`, { body });
  expect(put.status, put.text).toBe(200);
  await world.pool.query({
    text: "update payment_method_change set at = at - interval '30 days'",
  });
  return id;
}

async function newRun(id: number) {
  await approvedStatement(world, { affiliateId: id, amount: "10", currency: "EUR" });
  const made = await world.post("/payout-runs", { ...RUN, affiliate_ids: [id] });
  expect(made.status, made.text).toBe(201);
  return Run.parse(made.body["data"]);
}

/** Rows of every table in which this text is, also as the bytes of a value. */
async function rowsWith(text: string): Promise<string[]> {
  const tables = await world.rows<{ name: string }>(
    "select quote_ident(relname) as name from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace",
  );
  expect(tables.length).toBeGreaterThan(50);
  const found: string[] = [];
  const hex = Buffer.from(text).toString("hex");
  for (const { name } of tables) {
    const rows = await world.rows<{ row: string }>(
      `select t::text as row from ${name} t where t::text like '%' || $1 || '%' or t::text like '%' || $2 || '%'`,
      [text, hex],
    );
    found.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return found;
}

test("no table has an IBAN of a partner in the clear, whichever way it came in (N9)", async () => {
  const id = await partner();
  const texts = { Holder: "Eve", IBAN: TEXTS_IBAN };
  const body = { name: "Eve", payment_method: "wire", payment_details: texts };
  const eve = record(await world.post("/affiliates", body));
  expect(eve["payment_details"]).toEqual(texts);
  expect(record(await world.get(`/affiliates/${eve["id"]}`))["payment_details"]).toEqual(texts);
  const { id: runId } = await newRun(id);
  expect((await world.call("POST", `/payout-runs/${runId}/approve`)).status).toBe(200);
  const exported = await world.get(`/payout-runs/${runId}/export?format=csv`);
  expect(exported.text).toContain(IBAN);
  for (const iban of [IBAN, TEXTS_IBAN]) expect(await rowsWith(iban)).toEqual([]);
  // The scan finds what is there.
  expect((await rowsWith("DE89…3000")).length).toBeGreaterThan(0);
});

test("the file of an import of partners is sealed while it waits, and a rotation seals it anew (N9)", async () => {
  await world.pool.query({ text: "create table seen_part (like import_part)" });
  await world.pool.query({
    text: `create function see_part() returns trigger language plpgsql
           as $$ begin insert into seen_part values (new.*); return new; end $$`,
  });
  await world.pool.query({
    text: "create trigger see_part before insert on import_part for each row execute function see_part()",
  });
  const details = JSON.stringify({ iban: FILE_IBAN }).replaceAll('"', '""');
  const csv = `name,payment_method,payment_details\nFile,wire,"${details}"\n`;
  const query = { kind: "affiliates", format: "csv" };
  const { id, status } = await imported(world, world.tenant, query, csv);
  expect(status).toBe("done");
  const [row] = await world.rows<{ id: number }>("select id from affiliate where name = 'File'");
  const { payment_details: stored } = record(await world.get(`/affiliates/${row?.id ?? 0}`));
  expect(stored).toEqual({ iban: FILE_IBAN });
  expect(await world.rows("select is_sealed from seen_part")).toEqual([{ is_sealed: true }]);
  expect(await rowsWith(FILE_IBAN)).toEqual([]);

  // As an import that waits while the keys are rotated.
  await world.pool.query({ text: "insert into import_part select * from seen_part" });
  const older = join(folder, "older.key");
  writeFileSync(older, `${newSecretKey()}\n${SECRETS_KEY}\n`, { mode: 0o600 });
  const keys = new SecretKeys(() => readFileSync(older, "utf8"));
  await resealAll(world.pool, keys, () => {});
  expect(await wholeText(Readable.from(storedFile(world.pool, keys, { id, parts: 1 })))).toBe(csv);
  const lost = wholeText(Readable.from(storedFile(world.pool, secretKeys(), { id, parts: 1 })));
  await expect(lost).rejects.toThrow("no key of SECRETS_KEY opens import_part/bytes");
  // The other tests have the first key alone.
  await resealAll(
    world.pool,
    new SecretKeys(() => `${SECRETS_KEY}\n${readFileSync(older, "utf8").split("\n", 1)[0] ?? ""}`),
    () => {},
  );
  await world.pool.query({ text: "delete from import_part" });
  await world.pool.query({ text: "drop function see_part() cascade" });
  await world.pool.query({ text: "drop table seen_part" });
});

test("with another key a line is held and never dropped, and details are not shown (N9, N56)", async () => {
  const id = await partner();
  const approved = await newRun(id);
  expect((await world.call("POST", `/payout-runs/${approved.id}/approve`)).status).toBe(200);
  await approvedStatement(world, { affiliateId: id, amount: "10", currency: "EUR" });
  const origin = await world.startAnother({ secretKeys: new SecretKeys(newSecretKey) });
  const at = async (method: string, path: string, body?: unknown) =>
    await world.callAt(origin, method, path, { key: world.tenant.keys.admin, body });
  const made = await at("POST", "/payout-runs", { ...RUN, affiliate_ids: [id] });
  expect(Run.parse(made.body["data"]).held).toMatchObject([
    { affiliate_id: id, reason: "details cannot be opened" },
  ]);
  const exported = await at("GET", `/payout-runs/${approved.id}/export?format=csv`);
  expect(refusal(exported)).toBe("503 unavailable");
  const shown = record(await at("GET", `/affiliates/${id}`));
  expect(shown["payment_details"]).toEqual({ sealed: "…" });
  // A change of something else leaves the sealed details as they are.
  await at("PATCH", `/affiliates/${id}`, { name: "Anna II", payment_details: { sealed: "…" } });
  const { payment_details: kept } = record(await world.get(`/affiliates/${id}`));
  expect(kept).toEqual({ holder: "Anna", iban: "DE89…3000" });
  const method = await at("GET", `/affiliates/${id}/payment-method`);
  expect(method.body["data"]).toMatchObject({ has_details: false });
});

test("a stored file that no key opens is answered with 503 and opens again with its key (N9)", async () => {
  const { id } = await newRun(await partner());
  await world.call("POST", `/payout-runs/${id}/approve`);
  const { text } = await world.get(`/payout-runs/${id}/export?format=csv`);
  const origin = await world.startAnother({ secretKeys: new SecretKeys(newSecretKey) });
  const { admin: key } = world.tenant.keys;
  const path = `/payout-runs/${id}/export?format=csv`;
  expect(refusal(await world.callAt(origin, "GET", path, { key }))).toBe("503 unavailable");
  expect((await world.get(path)).text).toBe(text);
});

test("a copied cell does not open in another row (N9)", async () => {
  const [from, to] = [await partner({ holder: "Eve", iban: TEXTS_IBAN }), await partner()];
  await world.pool.query({
    text: `update payment_account t set sealed = s.sealed from payment_account s
           where t.affiliate_id = $2 and s.affiliate_id = $1`,
    values: [from, to],
  });
  expect((await newRun(to)).held).toMatchObject([{ reason: "details cannot be opened" }]);
  await world.pool.query({
    text: "delete from payment_account where affiliate_id = $1",
    values: [to],
  });
});

test("only the seal of a file may change: SQL that changes anything else is refused (N8, N9)", async () => {
  await world.pool.query({ text: "update billing_file set bytes = bytes where is_sealed" });
  for (const change of ["name = 'x'", "sha256 = 'x'", "is_sealed = false"]) {
    const text = `update billing_file set ${change} where is_sealed`;
    await expect(world.pool.query({ text })).rejects.toThrow(/a record of money/);
  }
  await expect(world.pool.query({ text: "delete from billing_file" })).rejects.toThrow(/refused/);
});

test("a rotation that is interrupted in the middle goes on, beside a live service (N9)", async () => {
  for (let i = 0; i < 3; i += 1) await partner();
  const [{ id: file0 } = { id: 0 }] = await world.rows<{ id: number }>(
    "select min(id) as id from billing_file",
  );
  const before = (await world.get(`/files/${file0}`)).text;
  const live = new SecretKeys(ring.read);
  const origin = await world.startAnother({ secretKeys: live });
  const old = secretKeys().sealingId ?? "";
  const killed = runCommandOn(world, ["secrets", "rotate"], {
    secretKeys: ring,
    onLine: () => {
      throw new Error("killed");
    },
  });
  await expect(killed).rejects.toThrow("killed");
  const first = new SecretKeys(ring.read).sealingId ?? "";
  expect(first).not.toBe(old);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const half = await countByKey(world.pool);
  expect([half.get(old), half.get(first)]).toEqual([expect.any(Number), expect.any(Number)]);

  const { result, isWell } = await runCommandOn(world, ["secrets", "rotate"], { secretKeys: ring });
  expect(isWell).toBe(true);
  expect(result).toContain(`An earlier rotation to ${first} is finished.`);
  expect(result).toContain(`No value needs ${old}: remove its line`);
  expect([...(await countByKey(world.pool)).keys()]).toEqual([first]);
  expect(ring.read().trim().split("\n")).toHaveLength(2);

  writeFileSync(file, `${ring.read().split("\n", 1)[0] ?? ""}\n`);
  const { admin: key } = world.tenant.keys;
  const after = await world.callAt(origin, "GET", `/files/${file0}`, { key });
  expect(after.text).toBe(before);
  expect((await runCommandOn(world, ["secrets", "rotate"], { secretKeys: ring })).result).toContain(
    "is a new key",
  );
});

test("doctor names values that no key opens, and a key file that others can read (N9)", async () => {
  const found = async (given: typeof ring) => {
    const { result } = await runCommandOn(world, ["doctor", "--json"], { secretKeys: given });
    const lines = z.array(z.looseObject({ subject: z.string() })).parse(JSON.parse(result));
    return lines.filter(({ subject }) => subject === "secret keys");
  };
  expect(await found(ring)).toMatchObject([{ state: "ok" }]);
  chmodSync(file, 0o644);
  expect(await found(ring)).toMatchObject([
    { state: "refuse", text: textWith(`chmod 600 ${file}`) },
  ]);
  chmodSync(file, 0o600);
  const other = newSecretKey();
  expect(await found({ read: () => other, file })).toMatchObject([
    { state: "refuse", text: textWith("no key of SECRETS_KEY") },
  ]);
});
