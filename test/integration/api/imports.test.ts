import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import {
  ApiWorld,
  containing,
  list,
  record,
  refusal,
  someText,
  type Tenant,
  textWith,
} from "./api-world.ts";
import {
  imported,
  importIn,
  importOf,
  partnersOf,
  sendImport,
  storedOf,
  untilEnded,
} from "./import-calls.ts";
import { outcome } from "./people/person-browser.ts";
import { runTracker } from "./run-tracker.ts";

const world = await forThisFile(ApiWorld.open());
const PARTNERS = { kind: "affiliates", format: "csv" };
let tenants = 0;

/** A new workspace for a test. It has one partner. */
async function tenant(): Promise<Tenant> {
  tenants += 1;
  return await world.addTenant(`imports${tenants}`);
}

function partnerLines(count: number): string {
  return Array.from({ length: count }, (_, index) => `Partner ${index}\n`).join("");
}

test("CSV is answered at once, imported row by row, and its file is gone at the end", async () => {
  const of = await tenant();
  const content =
    '\uFEFFcode,name,notes,tags,payment_details\r\nANNA2024,"Ännä ""A"", Blog","two\r\nlines",a | b,"{""iban"":""DE1""}"\r\n' +
    "\r\nBOB20245,=1+1,@x,,\r\n";
  const query = { kind: "affiliates", name: "partners.csv" };
  const answer = await sendImport(world, query, content, { key: of.keys.admin });
  expect(answer.status).toBe(202);
  expect(importIn(answer)).toMatchObject({
    ...query,
    format: "csv",
    status: "queued",
    bytes: Buffer.byteLength(content),
  });
  const ended = await untilEnded(world, importIn(answer).id, { key: of.keys.admin });
  expect(ended).toMatchObject({
    status: "done",
    message: "",
    rows_checked: 2,
    rows_created: 2,
    rows_faulty: 0,
    created_by: "Admin",
  });
  expect(await storedOf(world, of)).toEqual({ imports: 1, parts: 0 });
  expect(record(await world.get("/affiliates/ANNA2024", of.keys.admin))).toMatchObject({
    name: 'Ännä "A", Blog',
    notes: "two\r\nlines",
    tags: ["a", "b"],
    payment_details: { iban: "DE1" },
  });
  expect(record(await world.get("/affiliates/BOB20245", of.keys.admin))).toMatchObject({
    name: "=1+1",
    notes: "@x",
  });
});

test("JSON lines of offers get their events, advertiser, partners and scope of orders (G220)", async () => {
  const of = await tenant();
  const offers = [
    {
      code: "SHOP",
      name: 'Shop, [with] {brackets} and \\"quotes"',
      advertiser: "aDVERTISER",
      destination_url: "https://shop.example/?c={click_id}",
      visibility: "approval",
      payout: "12.5",
      events: [{ code: "lead", payout: "1" }],
      affiliates: [of.affiliateCode.toLowerCase()],
      txid_scope: "event",
    },
    {
      code: "BLOG",
      name: "Blog",
      advertiser: of.advertiserId,
      destination_url: "https://blog.example",
    },
  ];
  const lines = offers.map((offer) => JSON.stringify(offer)).join("\n");
  const ended = await imported(world, of, { kind: "offers", name: "offers.jsonl" }, lines);
  expect(ended).toMatchObject({ status: "done", format: "json", rows_created: 2 });
  expect(record(await world.get("/offers/SHOP", of.keys.admin))).toMatchObject({
    name: offers[0]?.name,
    advertiser_id: of.advertiserId,
    payout: "12.5000",
    events: [
      { code: "default", payout: "12.5000" },
      { code: "lead", payout: "1.0000" },
    ],
  });
  expect(record(await world.get("/offers/SHOP", of.keys.partner))).toMatchObject({ can_run: true });
  const scopeOf = async (code: string) =>
    (await world.get(`/offers/${code}/settings`, of.keys.admin)).body;
  expect(await scopeOf("SHOP")).toMatchObject({ data: { txid_scope: "event" } });
  expect(await scopeOf("BLOG")).toMatchObject({ data: { txid_scope: "offer" } });
  const other = JSON.stringify({ ...offers[1], code: "OTHER", txid_scope: "click" });
  const refused = await imported(world, of, { kind: "offers", name: "other.jsonl" }, other);
  expect(refused).toMatchObject({
    status: "refused",
    faults: [{ row: 1, field: "txid_scope", message: "expected one of offer, event" }],
  });
});

const FAULTY =
  "code,name,email,country\n" +
  "GOOD0001,Good,,DE\nBAD00001,,nobody,Atlantis\nGOOD0001,Twice,,\nSHORT001,Short\nGOOD0002,Good too,,\n";
const FAULTS: readonly unknown[] = [
  { row: 3, field: "email", message: someText },
  { row: 3, field: "country", message: someText },
  { row: 3, field: "name", message: "required" },
  { row: 4, field: "code", message: "row 2 has the same" },
  { row: 5, field: "", message: "has 2 cells, but there are 4 columns" },
];

test("a dry run reports every fault with its row and field, and writes nothing", async () => {
  const of = await tenant();
  const ended = await imported(world, of, { ...PARTNERS, dry_run: "1" }, FAULTY);
  expect(ended).toMatchObject({
    status: "done",
    dry_run: true,
    rows_checked: 5,
    rows_faulty: 3,
    rows_to_create: 2,
    rows_created: 0,
  });
  expect(ended.faults).toEqual(containing(FAULTS));
  expect(ended.faults).toHaveLength(FAULTS.length);
  expect(await partnersOf(world, of)).toEqual({ names: 1, found: 1 });
});

test("a check ends at the 200th faulty row, unless faulty rows are left out (#35, G213)", async () => {
  const of = await tenant();
  const content = `name,email\n${"Bad,nobody\n".repeat(600)}Good,\n`;
  const refused = await imported(world, of, PARTNERS, content);
  expect(refused).toMatchObject({ status: "refused", rows_checked: 200, rows_faulty: 200 });
  expect(refused.message).toMatch(
    /^200 of the first 200 rows have faults, and the others were not/,
  );
  const dry = await imported(world, of, { ...PARTNERS, dry_run: "1" }, content);
  expect(dry).toMatchObject({ status: "done", rows_checked: 200, rows_faulty: 200 });
  const skipped = await imported(world, of, { ...PARTNERS, skip_faulty: "1" }, content);
  expect(skipped).toMatchObject({ status: "done", rows_created: 1, rows_left_out: 600 });
});

test("a file with faults is refused as a whole, or with skip_faulty written without them", async () => {
  const of = await tenant();
  const refused = await imported(world, of, PARTNERS, FAULTY);
  expect(refused).toMatchObject({ status: "refused", rows_created: 0 });
  expect(refused.message).toMatch(
    /^3 of 5 rows have faults, so nothing was written\. .*skip_faulty=1/,
  );
  expect(refused.faults).toHaveLength(FAULTS.length);
  expect(await partnersOf(world, of)).toEqual({ names: 1, found: 1 });
  const skipped = await imported(world, of, { ...PARTNERS, skip_faulty: "1" }, FAULTY);
  expect(skipped).toMatchObject({
    status: "done",
    rows_created: 2,
    rows_faulty: 3,
    rows_left_out: 3,
  });
  expect(await partnersOf(world, of)).toEqual({ names: 3, found: 3 });
});

test("update changes records by code and keeps what a row does not name", async () => {
  const of = await tenant();
  await world.post(
    "/affiliates",
    { name: "Old", code: "THERE123", company: "Kept" },
    of.keys.admin,
  );
  const content = "code;name\nthere123;Renamed\nNEW12345;New\n";
  const query = { ...PARTNERS, delimiter: ";" };
  const refused = await imported(world, of, query, content);
  expect(refused.faults).toEqual([
    { row: 2, field: "code", message: "an affiliate with it exists: update=1 changes it" },
  ]);
  const ended = await imported(world, of, { ...query, update: "1" }, content);
  expect(ended).toMatchObject({
    status: "done",
    rows_to_update: 1,
    rows_updated: 1,
    rows_created: 1,
  });
  expect(record(await world.get("/affiliates/THERE123", of.keys.admin))).toMatchObject({
    name: "Renamed",
    company: "Kept",
  });
});

test.each([
  ["only a byte order mark", "\uFEFF", /^The file is empty/],
  ["an unknown column", "code,nmae\nA,B\n", /^The file has unknown columns: "nmae"/],
  ["another delimiter", "code;name\nA;B\n", /import it with delimiter=;/],
  ["an open quote", 'name\n"A\n', /is not CSV/],
])(
  "a file with %s is refused with a message that says what to do",
  async (_what, content, message) => {
    const of = await tenant();
    const ended = await imported(world, of, PARTNERS, content);
    expect(ended).toMatchObject({ status: "refused", rows_created: 0 });
    expect(ended.message).toMatch(message);
    expect(await storedOf(world, of)).toEqual({ imports: 1, parts: 0 });
  },
);

test("names with NUL, broken pairs, markup and very long fields are faults or text, never an outage", async () => {
  const of = await tenant();
  const rows = [
    { name: "a\0b", code: "c\0de" },
    { name: "\ud800" },
    { name: "ok", ["x".repeat(5_000)]: 1, "\0": 2 },
    { name: "<script>alert(1)</script>", code: "MARKUP12" },
    { name: "__proto__", ["__proto__x"]: {} },
  ];
  const lines = rows.map((row) => JSON.stringify(row)).join("\n");
  const ended = await imported(
    world,
    of,
    { kind: "affiliates", format: "json", skip_faulty: "1" },
    lines,
  );
  expect(ended).toMatchObject({
    status: "done",
    rows_checked: 5,
    rows_created: 1,
    rows_left_out: 4,
  });
  expect(ended.faults.map(({ row }) => row)).toEqual(containing([1, 2, 3, 5]));
  expect(Math.max(...ended.faults.map(({ field }) => field.length))).toBeLessThanOrEqual(200);
  expect(record(await world.get("/affiliates/MARKUP12", of.keys.admin))["name"]).toBe(
    "<script>alert(1)</script>",
  );
});

test("a file that was imported is not written again: neither over REST nor by the command line", async () => {
  const of = await tenant();
  const content = `name\n${partnerLines(300)}`;
  expect(await imported(world, of, PARTNERS, content)).toMatchObject({ rows_created: 300 });
  expect(await imported(world, of, PARTNERS, `\uFEFF${content}`)).toMatchObject({
    status: "done",
    rows_created: 0,
    rows_already_written: 300,
  });
  const folder = mkdtempSync(join(tmpdir(), "tracker-imports-"));
  const path = join(folder, "again.csv");
  writeFileSync(path, content);
  const printed = await runTracker(world, "affiliate", "import", path, "--workspace", of.slug);
  rmSync(folder, { recursive: true });
  expect(printed).toContain("0 created, 300 already written by an earlier run");
  expect(await partnersOf(world, of)).toEqual({ names: 301, found: 301 });
});

test("a file that the command line has imported is not written again over REST", async () => {
  const of = await tenant();
  const content = `name\n${partnerLines(300)}`;
  const folder = mkdtempSync(join(tmpdir(), "tracker-imports-"));
  const path = join(folder, "first.csv");
  writeFileSync(path, content);
  await runTracker(world, "affiliate", "import", path, "--workspace", of.slug);
  rmSync(folder, { recursive: true });
  expect(await imported(world, of, PARTNERS, content)).toMatchObject({
    status: "done",
    rows_created: 0,
    rows_already_written: 300,
  });
  expect(await partnersOf(world, of)).toEqual({ names: 301, found: 301 });
});

test("only who may create the records may import them, and stop an import of them", async () => {
  const of = await tenant();
  const narrowed = async (permissions: string[]): Promise<string> => {
    const made = await world.post("/keys", { role: "admin", permissions }, of.keys.admin);
    return String(record(made)["key"]);
  };
  const reader = await narrowed(["affiliates.read", "offers.write", "offers.read"]);
  const writer = await narrowed(["affiliates.write"]);
  const content = "name\nNew\n";
  const sent = async (key: string): Promise<string> =>
    outcome(await sendImport(world, PARTNERS, content, { key }));
  expect(await sent(of.keys.analyst)).toBe("403 read_only_key");
  expect(await sent(of.keys.partner)).toBe("403 forbidden");
  expect(await sent(of.keys.advertiser)).toBe("403 forbidden");
  expect(await sent(reader)).toBe("403 forbidden");
  expect(await storedOf(world, of)).toEqual({ imports: 0, parts: 0 });
  const { id, status } = await imported(world, of, { ...PARTNERS, dry_run: "1" }, content);
  expect(status).toBe("done");
  expect(await sent(writer)).toBe("202");
  expect(refusal(await world.call("POST", `/imports/${id}/stop`, { key: reader }))).toBe(
    "403 forbidden",
  );
  expect((await world.call("POST", `/imports/${id}/stop`, { key: writer })).status).toBe(200);
});

test("a key reads imports of the kinds whose records it reads, and no other workspace sees any", async () => {
  const of = await tenant();
  const other = await tenant();
  const offersOnly = record(
    await world.post("/keys", { role: "admin", permissions: ["offers.read"] }, of.keys.admin),
  );
  const { id } = await imported(
    world,
    of,
    { ...PARTNERS, dry_run: "1", name: "mine.csv" },
    "name\nA\n",
  );
  expect(
    list(await world.get("/imports", of.keys.analyst)).map((one) => [one.id, one["name"]]),
  ).toEqual([[id, "mine.csv"]]);
  expect((await world.get(`/imports/${id}`, of.keys.analyst)).status).toBe(200);
  for (const key of [String(offersOnly["key"]), other.keys.admin]) {
    expect(list(await world.get("/imports", key))).toEqual([]);
    expect(refusal(await world.get(`/imports/${id}`, key))).toBe("404 not_found");
    expect(refusal(await world.call("POST", `/imports/${id}/stop`, { key }))).toBe("404 not_found");
  }
});

test("a column of payment details needs a fresh proof of a factor from a person, not from a key", async () => {
  const of = await tenant();
  const content = 'name,payment_details\nA,"{""iban"":""DE1""}"\n';
  const query = { ...PARTNERS, dry_run: "1" };
  const { id } = importIn(await sendImport(world, query, content, { key: of.keys.admin }));
  expect((await untilEnded(world, id, { key: of.keys.admin })).faults).toEqual([]);
  await world.pool.query({
    text: "update import set is_fresh = false, status = 'queued', ended_at = null where id = $1",
    values: [id],
  });
  await world.pool.query({
    text: "insert into import_part (import_id, number, bytes) values ($1, 0, $2)",
    values: [id, Buffer.from(content)],
  });
  const ended = await untilEnded(world, id, { key: of.keys.admin });
  expect(ended.faults).toEqual([
    { row: 2, field: "payment_details", message: textWith("proof of a factor") },
  ]);
});

test("lists are paged, newest first, and filtered by kind and status", async () => {
  const of = await tenant();
  const key = of.keys.admin;
  const first = await imported(world, of, PARTNERS, "name\nA\n");
  const second = await imported(world, of, { kind: "advertisers", format: "csv" }, "nme\nA\n");
  const page = await world.get("/imports?limit=1", key);
  expect(list(page).map(({ id }) => id)).toEqual([second.id]);
  const next = await world.get(`/imports?limit=1&cursor=${String(page.body["next_cursor"])}`, key);
  expect(list(next).map(({ id }) => id)).toEqual([first.id]);
  expect(list(await world.get("/imports?kind=affiliates", key)).map(({ id }) => id)).toEqual([
    first.id,
  ]);
  expect(list(await world.get("/imports?status=refused", key)).map(({ id }) => id)).toEqual([
    second.id,
  ]);
  expect(await importOf(world, first.id, { key })).toMatchObject({ status: "done" });
});

test("an import of offers sets which parameters reach the landing page (G244)", async () => {
  const of = await tenant();
  const content = `code,name,advertiser_id,destination_url,pass_parameters
PASSING,Passing,${of.advertiserId},https://bücher.example/?c={click_id},all
`;
  const ended = await imported(world, of, { kind: "offers", name: "offers.csv" }, content);
  expect(ended).toMatchObject({ status: "done", rows_created: 1 });
  const settings = await world.get("/offers/PASSING/settings", of.keys.admin);
  expect(settings.body["data"]).toMatchObject({ pass_parameters: "all" });
  expect(record(await world.get("/offers/PASSING", of.keys.admin))["destination_url"]).toBe(
    "https://xn--bcher-kva.example/?c={click_id}",
  );
});
