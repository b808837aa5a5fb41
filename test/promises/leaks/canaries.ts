import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { connectNats } from "../../../schemas/nats/connect.ts";
import { serversOf } from "../../system/servers-of.ts";
import type { LeakWorld } from "./leak-world.ts";

/** Values that only visitors, advertisers and partners know. No log and no message subject may contain them. */
const EMAIL = "canary.person@secret.example";
const PHONE = "+4915112345678";
const IP = "203.0.113.77";
const QUERY = "canaryqueryvalue";
const WRONG_TOKEN = "canarywrongtoken0123456789";
const WRONG_KEY = "trk_canarywrongkey0123456789";
/** Calls every endpoint that takes personal data or secrets, with valid and damaged requests. The answers are ignored. */
export async function sendCanaries({ system }: LeakWorld): Promise<void> {
  const {
    tracking_url: tracking,
    base_url: api,
    links,
    postback_token: token,
  } = system.client.demo;
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
      { headers: { authorization: `Bearer ${system.client.demo.keys.admin}` } },
    ],
    [
      `${api}/affiliates`,
      {
        method: "POST",
        body: JSON.stringify({ name: "x", email: EMAIL, phone: PHONE }),
        headers: { ...json, authorization: `Bearer ${system.client.demo.keys.admin}` },
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
function canaries(world: LeakWorld): string[] {
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

/** What each thing that was looked through has and must not have. */
export type Looked = readonly { readonly name: string; readonly found: readonly string[] }[];

/** The tables that have an issued key in clear. */
export async function keysInTables(world: LeakWorld): Promise<Looked> {
  const keys = world.secrets.filter((secret) => secret.startsWith("trk_"));
  if (keys.length <= 3) throw new Error("too few keys were issued");
  const { rows: tables } = await world.db.query<{ name: string }>({
    text: "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  });
  const looked = [];
  for (const { name } of tables) {
    const { rows } = await world.db.query<{ found: string }>({
      text: `select count(*) as found from ${name} as row where row::text like any ($1)`,
      values: [keys.map((key) => `%${key.replaceAll("_", "\\_")}%`)],
    });
    const count = Number(rows[0]?.found);
    looked.push({ name, found: count === 0 ? [] : [`${count} rows`] });
  }
  return looked;
}

/** What logs and the output of `npm start` have of canaries and secrets. */
export async function canariesInLogs(world: LeakWorld): Promise<Looked> {
  const folder = join(world.system.dataDir, "logs");
  const files = (await readdir(folder, { recursive: true })).filter((name) =>
    name.includes(".log"),
  );
  const all = canaries(world);
  const looked = [];
  for (const name of files) {
    const text = await readFile(join(folder, name), "utf8");
    looked.push({ name, found: all.filter((canary) => text.includes(canary)) });
  }
  // npm start prints the demo's own keys, token and links: only those may be in its output.
  const { keys, postback_token } = world.system.client.demo;
  const mayBePrinted = [...Object.values(keys), postback_token, "sub1=", "group_by="];
  const output = world.system.output();
  const printed = all.filter((one) => output.includes(one) && !mayBePrinted.includes(one));
  return [...looked, { name: "the output of npm start", found: printed }];
}

/** The subjects of all messages from here on. */
export async function watchSubjects(
  world: LeakWorld,
): Promise<{ looked(): Looked; close(): Promise<void> }> {
  const { nats: url } = await serversOf(world.system);
  const { connection } = await connectNats({ url, name: "test", prefix: "" });
  const subjects = new Set<string>();
  connection.subscribe(">", {
    callback: (error, message) => {
      if (error === null) subjects.add(message.subject);
    },
  });
  await connection.flush();
  return {
    looked: () => {
      const all = canaries(world);
      return [...subjects].map((name) => ({
        name,
        found: all.filter((canary) => name.includes(canary)),
      }));
    },
    close: () => connection.close(),
  };
}
