import { expect, test, vi } from "vitest";
import { deleteAbandonedUploads } from "../../../../api/workspace/imports/uploads.ts";
import { forgetOldRows } from "../../../../processors/schedule/retention.ts";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import {
  ApiWorld,
  list,
  record,
  refusal,
  someText,
  type Tenant,
  textWith,
} from "../../../integration/api/api-world.ts";
import {
  HeldImport,
  imported,
  importIn,
  importOf,
  partnersOf,
  ROWS_HELD,
  type SeenImport,
  sendImport,
  storedOf,
  untilEnded,
} from "../../../integration/api/import-calls.ts";
import { openAs, outcome } from "../../../integration/api/people/person-browser.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { openStores } from "../../../services/stores.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";
import { until } from "../../../system/until.ts";

vi.setConfig({ testTimeout: 90_000 });

const ROWS = ROWS_HELD;
/** Enough for several transactions. */
const MANY_ROWS = 2_500;
const QUERY = { kind: "affiliates", format: "csv" };
const world = await forThisFile(ApiWorld.open());
const held = await HeldImport.prepare(world);
let tenants = 0;

async function tenant(): Promise<Tenant> {
  tenants += 1;
  return await world.addTenant(`runner${tenants}`);
}

/** Partners without codes. */
async function partners(of: Tenant): Promise<string> {
  return `name\n${(await held.rows(of)).join("\n")}\n`;
}

/** An import that stands still in the middle. */
async function startedImport(of: Tenant, key = of.keys.admin): Promise<number> {
  const { id } = importIn(await sendImport(world, QUERY, await partners(of), { key }));
  await held.untilSomeAreWritten(of);
  return id;
}

/** The import ended in the middle, what it wrote is counted, and nothing follows: the runner has gone on to another import. */
async function expectStopped(of: Tenant, ended: SeenImport): Promise<void> {
  expect(ended.status).toBe("stopped");
  const { found } = await partnersOf(world, of);
  expect(found).toBe(1 + Number(ended["rows_created"]));
  expect(found).toBeLessThan(ROWS);
  const another = await tenant();
  expect(await imported(world, another, QUERY, "name\nA\n")).toMatchObject({ status: "done" });
  expect((await partnersOf(world, of)).found).toBe(found);
  expect(await storedOf(world, of)).toEqual({ imports: 1, parts: 0 });
}

test("after a stop is answered no row is written, and those that are written stay", async () => {
  const of = await tenant();
  const id = await startedImport(of);
  const answer = await world.call("POST", `/imports/${id}/stop`, { key: of.keys.admin });
  const { found } = await partnersOf(world, of);
  expect(record(answer)).toMatchObject({
    status: "stopped",
    message: "Stopped by Admin.",
    rows_created: found - 1,
  });
  await held.letGo();
  await expectStopped(of, await importOf(world, id, { key: of.keys.admin }));
  const again = await world.call("POST", `/imports/${id}/stop`, { key: of.keys.admin });
  expect(again.status).toBe(200);
  expect(record(again)["ended_at"]).toBe(record(answer)["ended_at"]);
});

test("a key that is revoked stops its import", async () => {
  const of = await tenant();
  const made = record(
    await world.post("/keys", { role: "admin", name: "Importer" }, of.keys.admin),
  );
  const id = await startedImport(of, String(made["key"]));
  expect(
    (await world.call("DELETE", `/keys/${String(made.id)}`, { key: of.keys.admin })).status,
  ).toBe(200);
  await held.letGo();
  const ended = await untilEnded(world, id, { key: of.keys.admin });
  expect(ended.message).toMatch(/may no longer import affiliates: the key was revoked/);
  await expectStopped(of, ended);
});

test.each([
  ["becomes an analyst", "PATCH", { role: "analyst" }, /may only read/],
  [
    "loses the permission",
    "PATCH",
    { permissions: ["affiliates.read"] },
    /lacks the permission affiliates\.write/,
  ],
  ["is removed", "DELETE", undefined, /no longer a member/],
] as const)("a person who %s stops its import", async (what, method, body, message) => {
  const of = await tenant();
  const boss = await openAs(world, `boss-${tenants}@runner.example`, of, { role: "admin" });
  const person = await openAs(world, `sender-${tenants}@runner.example`, of, { role: "admin" });
  const headers = {
    cookie: person.cookie,
    "x-tracker-membership": String(person.membership),
    "sec-fetch-site": "same-origin",
  };
  const answer = await sendImport(world, QUERY, await partners(of), { headers });
  expect([what, outcome(answer)]).toEqual([what, "202"]);
  const { id } = importIn(answer);
  await held.untilSomeAreWritten(of);
  const changed = await boss.call(method, `/members/${person.membership}`, { body });
  expect(changed.status).toBe(200);
  await held.letGo();
  const ended = await untilEnded(world, id, { key: of.keys.admin });
  expect(ended.message).toMatch(message);
  await expectStopped(of, ended);
});

test("an inactive workspace stops its imports", async () => {
  const of = await tenant();
  const id = await startedImport(of);
  await world.rows("update workspace set status = 'inactive' where id = $1", [of.workspaceId]);
  await held.letGo();
  await until("it has ended", async () => {
    const [row] = await world.rows<{ status: string }>("select status from import where id = $1", [
      id,
    ]);
    return row?.status === "stopped";
  });
  await world.rows("update workspace set status = 'active' where id = $1", [of.workspaceId]);
  const ended = await importOf(world, id, { key: of.keys.admin });
  expect(ended.message).toMatch(/the workspace of this key is not active/);
  await expectStopped(of, ended);
});

test("a row that is refused only while it is written ends the import with its fault, and says what to do", async () => {
  const of = await tenant();
  const rows = (await held.rows(of)).map((name) => `,${name}\n`);
  const content = `code,name\n${rows.join("")}TAKEN123,Last\n`;
  const { id } = importIn(await sendImport(world, QUERY, content, { key: of.keys.admin }));
  await held.untilSomeAreWritten(of);
  await world.post("/affiliates", { name: "First", code: "TAKEN123" }, of.keys.admin);
  await held.letGo();
  const ended = await untilEnded(world, id, { key: of.keys.admin });
  expect(ended).toMatchObject({ status: "failed", rows_faulty: 1 });
  expect(ended.message).toMatch(/do not change the file.*skip_faulty=1.*from a file of its own/);
  expect(ended.faults).toEqual([{ row: ROWS + 2, field: "code", message: someText }]);
  const again = await imported(world, of, { ...QUERY, skip_faulty: "1" }, content);
  expect(again).toMatchObject({ status: "done", rows_left_out: 1 });
  expect(await partnersOf(world, of)).toEqual({ names: ROWS + 2, found: ROWS + 2 });
});

test("with skip_faulty a row that is refused only while it is written is left out, and no other", async () => {
  const of = await tenant();
  const rows = (await held.rows(of)).map((name) => `,${name}\n`);
  rows.splice(16, 0, "TAKEN123,Taken\n");
  const query = { ...QUERY, skip_faulty: "1" };
  const key = of.keys.admin;
  const content = `code,name\n${rows.join("")}`;
  const { id } = importIn(await sendImport(world, query, content, { key }));
  await held.untilSomeAreWritten(of);
  await world.post("/affiliates", { name: "First", code: "TAKEN123" }, key);
  await held.letGo();
  const ended = await untilEnded(world, id, { key });
  const counts = { rows_created: ROWS, rows_left_out: 1, rows_faulty: 1, rows_already_written: 0 };
  expect(ended).toMatchObject({ status: "done", ...counts });
  expect(ended.faults).toEqual([{ row: 18, field: "code", message: someText }]);
  expect(await partnersOf(world, of)).toEqual({ names: ROWS + 2, found: ROWS + 2 });
});

test("other writes to the catalog succeed while an import runs, none waits for long", async () => {
  const of = await tenant();
  const many = Array.from({ length: MANY_ROWS }, (_, index) => `${of.slug} ${index}\n`);
  const key = of.keys.admin;
  const { id } = importIn(await sendImport(world, QUERY, `name\n${many.join("")}`, { key }));
  await held.untilSomeAreWritten(of);
  const waitsMs: number[] = [];
  while ((await importOf(world, id, { key: of.keys.admin })).ended_at === null) {
    const startedAtMs = performance.now();
    const { status } = await world.post("/users", { name: "Of REST" }, of.keys.admin);
    const partner = await world.post("/affiliates", { name: "Of REST" }, of.keys.admin);
    waitsMs.push(performance.now() - startedAtMs);
    expect([status, partner.status]).toEqual([201, 201]);
  }
  expect(waitsMs.length).toBeGreaterThan(3);
  expect(Math.max(...waitsMs)).toBeLessThan(2_000);
});

test("an outage of Postgres is 503 for a file, and delays an import without ending it", async () => {
  const outage = new ApiWorld(await openStores({ label: "outage" }));
  const gate = await TcpGate.open(outage.env.POSTGRES_URL);
  const db = openPool({ url: gate.urlOf(outage.env.POSTGRES_URL), applicationName: "test" });
  const heldHere = await HeldImport.prepare(outage);
  try {
    const of = await outage.addTenant("outage");
    const key = of.keys.admin;
    outage.origin = await outage.startAnother({ db });
    const content = `name\n${(await heldHere.rows(of)).join("\n")}\n`;
    const { id } = importIn(await sendImport(outage, QUERY, content, { key }));
    await heldHere.untilSomeAreWritten(of);
    await gate.shut();
    await heldHere.letGo();
    const refused = await outage.call("POST", "/imports?kind=affiliates&format=csv", {
      key,
      raw: "name\nA\n",
    });
    expect(refusal(refused)).toBe("503 unavailable");
    await gate.open();
    const ended = await untilEnded(outage, id, { key });
    expect(ended).toMatchObject({ status: "done", rows_created: ROWS, rows_checked: ROWS });
    expect(await partnersOf(outage, of)).toEqual({ names: ROWS + 1, found: ROWS + 1 });
    expect(list(await outage.get("/imports", key))).toHaveLength(1);
  } finally {
    await outage.close();
    await db.end();
    await gate.shut();
  }
});

test("an import that ends its process every time is given up, so it does not end all of them", async () => {
  const of = await tenant();
  await world.rows(
    `insert into import (workspace_id, key_id, created_by, is_fresh, request_id, kind, name, format, delimiter, is_dry_run,
       is_update, skips_faulty, status, record_id, attempts, lease_token, leased_until)
     select $1, min(id), '', true, '', 'offers', '', 'csv', ',', true, false, false, 'checking', 'poison', 5, gen_random_uuid(), now()
     from api_key where workspace_id = $1`,
    [of.workspaceId],
  );
  const [poison] = list(await world.get("/imports", of.keys.admin));
  const ended = await untilEnded(world, Number(poison?.id), { key: of.keys.admin });
  expect(ended).toMatchObject({
    status: "failed",
    message: textWith("Given up after 5 attempts"),
  });
});

test("imports are forgotten 30 days after their end, and uploads of killed processes soon", async () => {
  const of = await tenant();
  const kept = await imported(world, of, QUERY, "name\nA\n");
  const old = await imported(world, of, QUERY, "name\nB\n");
  await world.rows("update import set ended_at = now() - interval '31 days' where id = $1", [
    old.id,
  ]);
  await forgetOldRows(world.pool, new AbortController().signal);
  expect(list(await world.get("/imports", of.keys.admin)).map(({ id }) => id)).toEqual([kept.id]);
  expect(refusal(await world.get(`/imports/${old.id}`, of.keys.admin))).toBe("404 not_found");
  for (const minutes of [5, 20]) {
    await world.rows(
      `with upload as (
         insert into import (workspace_id, key_id, created_by, is_fresh, request_id, kind, name, format, delimiter, is_dry_run,
           is_update, skips_faulty, status, created_at)
         select $1, min(id), '', true, '', 'offers', '', 'csv', ',', true, false, false, 'uploading', now() - make_interval(mins => $2)
         from api_key where workspace_id = $1 returning id)
       insert into import_part (import_id, number, bytes) select id, 0, 'x' from upload`,
      [of.workspaceId, minutes],
    );
  }
  await deleteAbandonedUploads(world.pool);
  expect(await storedOf(world, of)).toEqual({ imports: 2, parts: 1 });
});
