import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, list, record, type Tenant } from "./api-world.ts";
import { HeldImport, partnersOf, ROWS_HELD } from "./import-calls.ts";
import { runCommandOn, runTracker, spawnTracker } from "./run-tracker.ts";

vi.setConfig({ testTimeout: 120_000 });

const world = await forThisFile(ApiWorld.open());
const held = await HeldImport.prepare(world);
const folder = mkdtempSync(join(tmpdir(), "tracker-import-"));
afterAll(() => rmSync(folder, { recursive: true }));
let tenants = 0;

/** A new workspace for a test. */
async function tenant(): Promise<Tenant> {
  tenants += 1;
  return await world.addTenant(`import${tenants}`);
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function imported(
  of: Tenant,
  kind: string,
  path: string,
  ...options: string[]
): Promise<string> {
  return await runTracker(world, kind, "import", path, "--workspace", of.slug, ...options);
}

async function fault(
  of: Tenant,
  kind: string,
  path: string,
  ...options: string[]
): Promise<string> {
  const error: unknown = await imported(of, kind, path, ...options).then(
    (result) => new Error(`imported: ${result}`),
    (refusal: unknown) => refusal,
  );
  return error instanceof Error ? error.message : String(error);
}

async function count(of: Tenant, table: "affiliate" | "offer" | "advertiser"): Promise<number> {
  const { rows } = await world.pool.query<{ found: number }>({
    text: {
      affiliate: "select count(*) as found from affiliate where workspace_id = $1",
      offer: "select count(*) as found from offer where workspace_id = $1",
      advertiser: "select count(*) as found from advertiser where workspace_id = $1",
    }[table],
    values: [of.workspaceId],
  });
  return rows[0]?.found ?? 0;
}

test("faults of 1,000 rows are reported by row and field, nothing is written without --skip-faulty", async () => {
  const of = await tenant();
  const rows = Array.from({ length: 1_000 }, (_, index) => {
    const code = `P${String(index).padStart(6, "0")}`;
    if (index === 0) return `${code},First,nobody,Atlantis,12.123456`;
    if (index === 499) return "P000001,Twice,,,";
    if (index === 999) return `${code},Short`;
    return `${code},Partner ${index},p${index}@x.example,DE,1.5`;
  });
  const path = file("1000.csv", `code,name,email,country,min_payout\n${rows.join("\n")}\n`);
  for (const options of [[], ["--dry-run"]]) {
    const faults = await fault(of, "affiliate", path, ...options);
    expect(faults).toMatch(/^3 of 1000 rows have faults[.,].* nothing was written\./i);
    expect(faults).toMatch(/row 2: email: .*\n {2}row 2: country: .*\n {2}row 2: min_payout: /);
    expect(faults).toContain("row 501: code: row 3 has the same");
    expect(faults).toContain("row 1001 has 2 cells, but there are 5 columns");
    expect(await count(of, "affiliate")).toBe(1);
  }
  const { result, lines } = await runCommandOn(world, [
    "affiliate",
    "import",
    path,
    "--workspace",
    of.slug,
    "--skip-faulty",
  ]);
  expect(result).toMatch(/997 created, 3 left out/);
  expect(lines.join("\n")).toContain("row 501: code: row 3 has the same");
  expect(await count(of, "affiliate")).toBe(1 + 997);
  expect(record(await world.get("/affiliates/P000001", of.keys.admin))["name"]).toBe("Partner 1");
});

test("a killed import is run again: no row is written twice or left out, even without codes", async () => {
  const of = await tenant();
  const path = file("killed.csv", `name\n${(await held.rows(of)).join("\n")}\n`);
  const first = spawnTracker(world, "affiliate", "import", path, "--workspace", of.slug);
  await held.untilSomeAreWritten(of);
  first.child.kill("SIGKILL");
  expect((await first.ended).signal).toBe("SIGKILL");
  await held.letGo();
  const before = (await count(of, "affiliate")) - 1;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(ROWS_HELD);
  expect(await imported(of, "affiliate", path)).toContain(
    `${ROWS_HELD - before} created, ${before} already written by an earlier run`,
  );
  expect(await imported(of, "affiliate", path)).toContain(
    `0 created, ${ROWS_HELD} already written by an earlier run`,
  );
  expect(await partnersOf(world, of)).toEqual({ names: ROWS_HELD + 1, found: ROWS_HELD + 1 });
});

test("who follows the advice of a stopped import writes every row once, even without codes", async () => {
  const of = await tenant();
  const rows = (await held.rows(of)).map((name) => `,${name}`);
  const path = file("refused.csv", `code,name\n${rows.join("\n")}\nTAKEN123,Last\n`);
  const stopped = fault(of, "affiliate", path);
  await held.untilSomeAreWritten(of);
  await world.post("/affiliates", { name: "First", code: "TAKEN123" }, of.keys.admin);
  await held.letGo();
  const advice = /do not change the file.* with --skip-faulty.* from a file of its own/is;
  expect(await stopped).toMatch(advice);
  expect(await fault(of, "affiliate", path)).toMatch(advice);
  expect(await imported(of, "affiliate", path, "--skip-faulty")).toContain("1 left out");
  const own = file("corrected.csv", "code,name\nLAST1234,Last\n");
  expect(await imported(of, "affiliate", own)).toContain("1 created");
  expect(await partnersOf(world, of)).toEqual({ names: ROWS_HELD + 3, found: ROWS_HELD + 3 });
});

test("of two runs of one import at once only one writes, and the other says so", async () => {
  const of = await tenant();
  const rows = Array.from({ length: 500 }, (_, index) => `Partner ${index}`);
  const path = file("at-once.csv", `name\n${rows.join("\n")}\n`);
  const results = await Promise.all([fault(of, "affiliate", path), fault(of, "affiliate", path)]);
  expect(results.sort()).toEqual([
    expect.stringContaining("Another run of this import has written rows"),
    expect.stringMatching(/^imported: .*500 created/),
  ]);
  expect(await partnersOf(world, of)).toEqual({ names: 501, found: 501 });
});

test("an interrupted import reports its progress, and the same command completes it", async () => {
  const of = await tenant();
  const rows = (await held.rows(of)).map((name) => JSON.stringify({ name }));
  const path = file("stopped.jsonl", rows.join("\n"));
  const stop = new AbortController();
  const args = ["affiliate", "import", path, "--workspace", of.slug];
  const running = runCommandOn(world, args, { signal: stop.signal }).then(
    ({ result }) => result,
    (error: unknown) => String(error),
  );
  await held.untilSomeAreWritten(of);
  stop.abort();
  await held.letGo();
  expect(await running).toMatch(/Stopped: \d+ created, \d+ rows are left/);
  const there = (await count(of, "affiliate")) - 1;
  expect(await imported(of, "affiliate", path)).toContain(
    `${ROWS_HELD - there} created, ${there} already written`,
  );
  expect(await count(of, "affiliate")).toBe(ROWS_HELD + 1);
});

test("--update changes records by code, adds events, and keeps fields that a row does not name", async () => {
  const of = await tenant();
  const admin = of.keys.admin;
  const offer = await world.offer(
    {
      code: "THERE",
      advertiser_id: of.advertiserId,
      category: "kept",
      events: [{ code: "lead", payout: "1" }],
    },
    admin,
  );
  const events = JSON.stringify([
    { code: "lead", payout: "2" },
    { code: "sale", payout: "3" },
  ]).replaceAll('"', '""');
  const path = file(
    "update.csv",
    `code;name;advertiser;destination_url;payout;category;events\nthere;Renamed;;;7;;"${events}"\nNEW1;New;Advertiser;https://new.example;1;;\n`,
  );
  expect(await fault(of, "offer", path)).toMatch(/separated by ";".*--delimiter ";"/);
  expect(await fault(of, "offer", path, "--delimiter", ";")).toMatch(
    /row 2: code: an offer with it exists: --update/,
  );
  expect(await imported(of, "offer", path, "--delimiter", ";", "--update")).toMatch(
    /1 created, 1 updated/,
  );
  const changed = record(await world.get("/offers/THERE", admin));
  expect(changed).toMatchObject({
    id: offer.id,
    code: "THERE",
    name: "Renamed",
    category: "kept",
    payout: "7.0000",
    events: [
      { code: "default", payout: "7.0000" },
      { code: "lead", payout: "2.0000" },
      { code: "sale", payout: "3.0000" },
    ],
  });
  await imported(of, "offer", path, "--delimiter", ";", "--update");
  expect(record(await world.get("/offers/THERE", admin))["updated_at"]).toBe(changed["updated_at"]);
  const wrong = file(
    "wrong-update.json",
    '[{"code":"THERE","revenue":"x","events":[{"code":"lead","payout_type":"cps","payout":"101"},{"code":"default","payout":"1"}]},{"name":"No code"}]',
  );
  const faults = await fault(of, "offer", wrong, "--update");
  expect(faults).toMatch(/row 1: revenue: expected a plain decimal/);
  expect(faults).toMatch(/row 1: events\[0\]\.payout: expected at most 100 percent/);
  expect(faults).toMatch(
    /row 1: events\[1\]\.payout: the default event has the terms of the offer/,
  );
  expect(faults).toMatch(/row 2: code: required with --update/);
});

test("references to missing records are faults, named as in the file", async () => {
  const of = await tenant();
  await world.insert("advertiser", {
    workspace_id: of.workspaceId,
    name: "Advertiser",
    currency: "USD",
    postback_token: "second",
  });
  const path = file(
    "faulty.jsonl",
    [
      '{"name":"A","advertiser":"Nobody","destination_url":"https://a.example","affiliates":["GONE1234"]}',
      '{"name":"B","advertiser":"Advertiser","destination_url":"https://b.example"}',
      `{"name":"C","advertiser_id":${world.tenant.advertiserId},"destination_url":"ftp://c","colour":"red","events":[{"code":"x"},{"code":"x"}]}`,
      '{"name":"D",}',
    ].join("\n"),
  );
  const faults = await fault(of, "offer", path);
  expect(faults.split("\n").slice(1).sort()).toEqual([
    "  row 1: advertiser: no such advertiser",
    "  row 1: affiliates[0]: no such affiliate",
    "  row 2: advertiser: several advertisers have this name: give the id",
    "  row 3: advertiser_id: no such advertiser",
    "  row 3: colour: unknown field",
    "  row 3: destination_url: expected an absolute http or https URL",
    "  row 3: events[1].code: used twice",
    expect.stringMatching(/^ {2}row 4 is not JSON/),
  ]);
  expect(await count(of, "offer")).toBe(0);
});

test("advertisers are identified by their names", async () => {
  const of = await tenant();
  const path = file(
    "advertisers.csv",
    "name,website\nadvertiser,https://a.example\nOther,https://o.example\n",
  );
  expect(await fault(of, "advertiser", path)).toMatch(/row 2: name: an advertiser with it exists/);
  expect(await imported(of, "advertiser", path, "--update", "--dry-run")).toMatch(
    /2 rows without faults: 1 would be created, 1 updated\. Nothing was written/,
  );
  expect(await imported(of, "advertiser", path, "--update")).toMatch(/1 created, 1 updated/);
  const found = list(await world.get("/advertisers", of.keys.admin));
  expect(found.map(({ name, website }) => [name, website])).toEqual([
    ["Other", "https://o.example"],
    ["Advertiser", "https://a.example"],
  ]);
});

test("an update finds names that JavaScript and Postgres turn into different lower case", async () => {
  const of = await tenant();
  const advertisers = ["ΟΔΟΣ", "İpek"];
  const path = file("folded.csv", `name\n${advertisers.join("\n")}\n`);
  expect(await imported(of, "advertiser", path, "--update")).toContain("2 created, 0 updated");
  expect(await imported(of, "advertiser", path, "--update")).toContain("0 created, 2 updated");
  const offers = advertisers.map((advertiser) => ({
    advertiser,
    name: "Of it",
    destination_url: "https://shop.example",
  }));
  const found = file("of-folded.json", JSON.stringify(offers));
  expect(await imported(of, "offer", found)).toContain("2 created");
});

test.each([
  ["empty.csv", "", /is empty/],
  ["unknown.csv", "code,nmae\nA,B\n", /unknown columns: "nmae"/],
  ["twice.csv", "name,name\nA,B\n", /the column name twice/],
  ["quote.csv", 'name\n"A\n', /is not CSV/],
  ["latin1.csv", Buffer.from("name\nJ\xf6rg\n", "latin1"), /is not UTF-8/],
  ["text.json", "name\n", /neither an array of objects/],
  ["cut.json", '[{"name":"A"},', /ends in the middle/],
  ["comma.json", '[{"name":"A"} {"name":"B"}]', /neither an array of objects/],
])("%s is refused with a message that says what to do", async (name, content, message) => {
  const of = await tenant();
  expect(await fault(of, "affiliate", file(name, content))).toMatch(message);
  expect(await count(of, "affiliate")).toBe(1);
});
