import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import { killJob } from "../system/processes.ts";
import { serversOf } from "../system/servers-of.ts";
import { until } from "../system/until.ts";
import { LeakWorld } from "./leaks/leak-world.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

/** Values that only visitors, advertisers and partners know. No log and no message subject may contain them. */
const EMAIL = "canary.person@secret.example";
const PHONE = "+4915112345678";
const IP = "203.0.113.77";
const QUERY = "canaryqueryvalue";
const WRONG_TOKEN = "canarywrongtoken0123456789";
const WRONG_KEY = "trk_canarywrongkey0123456789";
const ROUNDS = IS_FULL ? 50 : 5;

let world: LeakWorld;
let nats: Nats;
const subjects = new Set<string>();

beforeAll(async () => {
  world = await LeakWorld.open();
  const { nats: url } = await serversOf(world.system);
  nats = await connectNats({ url, name: "test", prefix: "" });
  nats.connection.subscribe(">", {
    callback: (error, message) => {
      if (error === null) subjects.add(message.subject);
    },
  });
  await nats.connection.flush();
  const admin = await world.makeWorkspace("first");
  await world.addAccount(admin, "ownword");
  for (let round = 0; round < ROUNDS; round += 1) {
    await sendCanaries();
    // A process is most likely to log a value when its connections break.
    if (round === 1) await killJob(world.system.dataDir, "processors");
    if (round === 2) await killJob(world.system.dataDir, "postgres");
    if (round === 3) await killJob(world.system.dataDir, "nats");
  }
  await until(
    "the service answers again",
    async () => {
      const { tracking_url: tracking, postback_token: token } = world.system.client.demo;
      const answer = await fetch(`${tracking}/pb?token=${token}&click_id=${"0".repeat(32)}`);
      return answer.status === 200;
    },
    { timeoutMs: 60_000 },
  );
});

afterAll(async () => {
  await nats.connection.close();
  await world.close();
});

/** Calls every endpoint that takes personal data or secrets, with valid and damaged requests. The answers are ignored. */
async function sendCanaries(): Promise<void> {
  const {
    tracking_url: tracking,
    base_url: api,
    links,
    postback_token: token,
  } = world.system.client.demo;
  const person = new URLSearchParams({ email: EMAIL, phone: PHONE, ip: IP, sub1: QUERY });
  const from = { "x-forwarded-for": IP, referer: `https://shop.example/?q=${QUERY}` };
  const clickId = await fetch(`${links.affiliate.replace(/\?.*/, "")}?${person}`, {
    headers: from,
    redirect: "manual",
  }).then(
    ({ headers }) => /[0-9a-f]{32}/.exec(headers.get("location") ?? "")?.[0] ?? "",
    () => "",
  );
  const json = { ...from, "content-type": "application/json" };
  const calls: [string, { method?: string; body?: string; headers?: Record<string, string> }][] = [
    [`${tracking}/pb?token=${token}&click_id=${clickId}&${person}`, {}],
    [`${tracking}/pb?token=${WRONG_TOKEN}&click_id=${clickId}&${person}`, {}],
    [`${tracking}/pb`, { method: "POST", body: `{"token":"${token}","email":"${EMAIL}"` }],
    [`${tracking}/pb?token=${token}&click_id=${QUERY}&currency=${QUERY}&${person}`, {}],
    [`${tracking}/px?click_id=${clickId}&${person}`, {}],
    [`${tracking}/px.js?click_id=${clickId}&${person}`, {}],
    [
      `${tracking}/lp`,
      { method: "POST", body: JSON.stringify({ url: `https://x.example/?${person}` }) },
    ],
    [`${tracking}/clk?token=${token}&oid=DEMOSHOP&affid=DEMOANNA&${person}`, {}],
    [`${tracking}/c/${QUERY}?url=https%3A%2F%2Fevil.example%2F${QUERY}`, {}],
    [`${tracking}/i/${QUERY}/${QUERY}?${person}`, {}],
    [`${api}/me`, { headers: { authorization: `Bearer ${WRONG_KEY}` } }],
    [`${api}/conversions?${person}`, { headers: { authorization: `Bearer ${WRONG_KEY}` } }],
    [
      `${api}/affiliates?q=${encodeURIComponent(EMAIL)}`,
      { headers: { authorization: `Bearer ${world.system.client.demo.keys.admin}` } },
    ],
    [
      `${api}/affiliates`,
      {
        method: "POST",
        body: JSON.stringify({ name: "x", email: EMAIL, phone: PHONE }),
        headers: { ...json, authorization: `Bearer ${world.system.client.demo.keys.admin}` },
      },
    ],
  ];
  await Promise.all(
    calls.map(([url, init]) =>
      fetch(url, {
        redirect: "manual",
        signal: AbortSignal.timeout(10_000),
        ...init,
        headers: { ...from, ...init.headers },
      }).then(
        (answer) => answer.arrayBuffer(),
        // A killed server gives no answer.
        () => undefined,
      ),
    ),
  );
}

/** "@secret.example" and "+49-" are in the records of LeakWorld; "sub1=" and "group_by=" show a logged query string. */
function canaries(): string[] {
  return [
    ...world.secrets,
    ...Object.values(world.system.client.demo.keys),
    world.system.client.demo.postback_token,
    EMAIL,
    encodeURIComponent(EMAIL),
    PHONE.slice(1),
    IP,
    QUERY,
    WRONG_TOKEN,
    WRONG_KEY,
    "@secret.example",
    "+49-",
    "sub1=",
    "group_by=",
  ];
}

test("keys are stored only as hashes (P31, #24)", async (context) => {
  const keys = world.secrets.filter((secret) => secret.startsWith("trk_"));
  expect(keys.length).toBeGreaterThan(3);
  const { rows: tables } = await world.db.query<{ name: string }>({
    text: "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  });
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const { rows } = await world.db.query<{ found: string }>({
      text: `select count(*) as found from ${name} as row where row::text like any ($1)`,
      values: [keys.map((key) => `%${key.replaceAll("_", "\\_")}%`)],
    });
    const found = Number(rows[0]?.found);
    reportCases(context, { cases: 1, violations: found });
    expect([name, found]).toEqual([name, 0]);
  }
});

test("no log has a key, token, e-mail, phone, address or query string, even after kills (P31, #24)", async (context) => {
  const folder = join(world.system.dataDir, "logs");
  const files = (await readdir(folder, { recursive: true })).filter((name) =>
    name.includes(".log"),
  );
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const text = await readFile(join(folder, file), "utf8");
    const found = canaries().filter((canary) => text.includes(canary));
    reportCases(context, { cases: 1, violations: found.length });
    expect([file, found]).toEqual([file, []]);
  }
  const printed = canaries().filter((canary) => world.system.output().includes(canary));
  // npm start prints the demo's own keys, token and links: only those may be in its output.
  const { keys, postback_token } = world.system.client.demo;
  const mayBePrinted = [...Object.values(keys), postback_token, "sub1=", "group_by="];
  expect(printed.filter((canary) => !mayBePrinted.includes(canary))).toEqual([]);
});

test("no message subject has personal data or a secret (P31, #24)", (context) => {
  const all = [...subjects];
  expect(all.length).toBeGreaterThan(5);
  const found = all.filter((subject) => canaries().some((canary) => subject.includes(canary)));
  reportCases(context, { cases: all.length, violations: found.length });
  expect(found).toEqual([]);
});
