import { expect, test } from "vitest";
import { z } from "zod";
import { asObject, type Json } from "../../../../api/operation/json-object.ts";
import type { Operation } from "../../../../api/operation/operation.ts";
import { operations } from "../../../../api/operations.ts";
import type { Answer } from "../../../integration/api/api-world.ts";
import { MoneyWrites, moneyWrites, type Write } from "../../../integration/billing/money-writes.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { runningUs } from "../../../system/postgres-time.ts";

/**
 * Odd values in every field of a body, in every parameter, and as every file of the money side. No answer is a 500, and none takes long. That each is
 * one that its operation describes is asserted by every call.
 */
const writes = await forThisFile(MoneyWrites.open());
const { api } = writes;
const { keys } = api.tenant;

/** For one request: time, or else processor time of the API, which runs in this process, and of the sessions of its database. */
const QUICK_MS = 1_000;
/** Time until the answer, most of which a busy machine takes. */
const WAITED_MS_MAX = 15_000;
const TRIES = 5;
/** Above the limit of a body. */
const HUGE_CHARACTERS = 10 * 1024 ** 2;
const MONEY_PATH = /^\/(conversion-updates|changes)(\/|$)/;

const ofMoney = (operation: Operation): boolean =>
  operation.tag === "Billing" || operation.tag === "Payouts" || MONEY_PATH.test(operation.path);
const reads = operations.filter((operation) => ofMoney(operation) && operation.method === "GET");
const changes = [
  ...moneyWrites,
  ...operations.filter(({ path, access }) => MONEY_PATH.test(path) && access.isWrite),
];

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  Number.MAX_SAFE_INTEGER + 1,
  1e308,
  "",
  " ",
  "NaN",
  "-Infinity",
  "1e9",
  "0x10",
  "-0.0000",
  "9".repeat(30),
  `-${"9".repeat(30)}.${"9".repeat(30)}`,
  `0.${"0".repeat(200)}1`,
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00\ud800",
  "+275760-09-13T00:00:00.000Z",
  "-271821-04-20T00:00:00.000Z",
  "275760-09-13",
  "0000-00-00",
  "2026-02-30",
  "2026-12-31T23:59:60.000Z",
  "٣١",
  "'; drop table statement; --",
  "../../../etc/passwd",
  "\u202e🦄",
  "x".repeat(100_000),
  [],
  {},
  [[]],
  [null],
  Array.from({ length: 5_000 }, () => "1"),
  { ["__proto__"]: 1, constructor: 1, "": 1 },
  nested(30),
  nested(500),
];

/** In an address, as they are sent. */
const PARAMETERS: readonly string[] = [
  "",
  "0",
  "-1",
  "1.5",
  "1e9",
  "NaN",
  "null",
  "2147483648",
  "9".repeat(30),
  "99999999999999999999",
  "%00",
  "a%00b",
  "%ED%A0%80",
  "%FF",
  "%F0%9F%A6%84",
  "%D9%A3",
  "%27%3B--",
  "..%2F..%2Fetc",
  "%2B275760-09-13",
  "275760-09-13",
  "0000-00-00",
  "2026-02-30",
  "x".repeat(400),
  "1,2,3,,",
  Array.from({ length: 300 }, (_, place) => place).join(","),
  "%5B%5D",
  "true",
];

const FILES: readonly string[] = [
  "",
  "\u0000",
  "\uFEFF",
  "offer,txid,status",
  "reference,status",
  "reference,status\n,\n,,,,\n",
  'reference,status\n"P1L1',
  `reference,status\n${"P1L1,paid\n".repeat(20_000)}`,
  `offer,txid,status\n${"SHOES,\u0000,approved\n".repeat(50)}`,
  `offer,txid,status,sale_amount\nSHOES,1,approved,${"9".repeat(30)}\n`,
  "offer,txid,status,sale_amount\nSHOES,1,approved,NaN\nSHOES,1,approved,-1\n",
  "conversion_id,status\nnot-an-id,approved\n,\n",
  `${"a,".repeat(9_000)}\n${"1,".repeat(9_000)}`,
  "[".repeat(100_000),
  '[{"offer":{"a":[1]},"txid":null,"status":"\\ud800"}]',
  "%PDF-1.7\u0000\u0001\u0002",
];

/** What took long even when the machine was otherwise idle, and what failed. */
const faults: string[] = [];

/**
 * Another process may have the machine meanwhile, so a refusal that came late is sent again, and then processor time counts: without the work
 * that accepted requests have left, and without other tests on the same Postgres. What was accepted has had its effect, and is sent once.
 */
async function ask(what: string, send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    if (tries > 1) await writes.quiet();
    const before = tries > 1 ? await usedMs() : 0;
    const startMs = performance.now();
    const answer = await send();
    const waitedMs = performance.now() - startMs;
    const used = tries > 1 ? (await usedMs()) - before : waitedMs;
    if (answer.status >= 500) faults.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
    const isRefused = answer.status >= 300;
    const isSlow = waitedMs > WAITED_MS_MAX || (isRefused && used > QUICK_MS);
    if (isSlow && isRefused && tries < TRIES) continue;
    if (isSlow) faults.push(`${what}: ${Math.round(used)} ms in ${Math.round(waitedMs)} ms`);
    return answer;
  }
}

async function usedMs(): Promise<number> {
  const sessions = await api.rows<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database()",
  );
  return runningUs([process.pid, ...sessions.map(({ pid }) => pid)]) / 1_000;
}

const Schema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});
type Place = readonly (string | number)[];

/** Where a body has fields, the body itself included. */
function placesOf(schema: unknown, at: Place = []): Place[] {
  const { properties = {}, items, anyOf = [] } = Schema.parse(schema ?? {});
  return [
    at,
    ...Object.entries(properties).flatMap(([name, inner]) => placesOf(inner, [...at, name])),
    ...(items === undefined ? [] : placesOf(items, [...at, 0])),
    ...anyOf.flatMap((inner) => placesOf(inner, at).filter((place) => place.length > at.length)),
  ];
}

/** The value with another one at a place. What is missing on the way is made. */
function withValue(whole: unknown, [first, ...rest]: Place, value: unknown): unknown {
  if (first === undefined) return value;
  if (typeof first === "number") {
    const [item] = Array.isArray(whole) ? (whole as readonly unknown[]) : [];
    return [withValue(item, rest, value)];
  }
  const fields: Json = { ...asObject(whole) };
  return { ...fields, [first]: withValue(fields[first], rest, value) };
}

function named(place: Place, value: unknown): string {
  return `${place.join(".") || "body"} = ${(JSON.stringify(value) ?? "").slice(0, 60)}`;
}

async function made(name: string): Promise<Write> {
  const make = writes.make[name];
  if (make === undefined) throw new Error(`no case of ${name}`);
  return await make();
}

async function sendBodies(operation: Operation, body: z.ZodType): Promise<number> {
  const schema = z.toJSONSchema(body, { io: "input", unrepresentable: "any", reused: "inline" });
  let write = await made(operation.name);
  let sent = 0;
  for (const place of placesOf(schema))
    for (const value of VALUES) {
      const odd = withValue(write.body ?? {}, place, value);
      const answer = await ask(
        `${operation.name} ${named(place, value)}`,
        async () =>
          await api.call(operation.method, write.path, { key: write.key ?? keys.admin, body: odd }),
      );
      sent += 1;
      // It was good after all, and has used up its record.
      if (answer.status < 300) write = await made(operation.name);
    }
  // What was refused has left everything as it was.
  const good = await writes.send(operation, write);
  expect(good.status, good.text).toBe(operation.status);
  return sent;
}

async function sendFiles(operation: Operation): Promise<number> {
  const { path, key } = await made(operation.name);
  for (const raw of FILES)
    await ask(
      `${operation.name} file ${JSON.stringify(raw.slice(0, 40))}`,
      async () =>
        await api.call("POST", path, {
          key: key ?? keys.admin,
          raw,
          headers: { "content-type": "text/csv" },
        }),
    );
  await writes.quiet();
  return FILES.length;
}

const TABLES: Readonly<Record<string, string>> = {
  adjustments: "adjustment",
  affiliates: "affiliate",
  advertisers: "advertiser",
  files: "billing_file",
  invoices: "invoice",
  payments: "advertiser_payment",
  statements: "statement",
  "payout-runs": "payout_run",
  "conversion-updates": "conversion_update",
};

/** The path with the newest record of its kind. */
async function pathOf({ path }: Operation): Promise<string> {
  const table = TABLES[path.split("/").find((part) => TABLES[part] !== undefined) ?? ""];
  const [row] =
    table === undefined
      ? []
      : await api.rows<{ id: number }>(`select max(id)::int as id from ${table}`);
  return path
    .replace("{id}", String(row?.id ?? 1))
    .replace("{line}", "1")
    .replace("{format}", "csv");
}

function keyOf({ access: { roles } }: Operation): string {
  const role = (["admin", "partner", "advertiser"] as const).find((one) => roles.includes(one));
  return keys[role ?? "admin"];
}

async function sendParameters(operation: Operation): Promise<number> {
  const { method, input, name } = operation;
  const key = keyOf(operation);
  const path = await pathOf(operation);
  const query = input.query instanceof z.ZodObject ? Object.keys(input.query.shape) : [];
  const addresses = PARAMETERS.flatMap((value) => [
    ...[...operation.path.matchAll(/\{\w+\}/g)].map(([place]) =>
      operation.path.replace(place, value === "" ? "%20" : value).replaceAll(/\{\w+\}/g, "1"),
    ),
    ...[...query, "unknown"].map((param) => `${path}?${param}=${value}`),
  ]);
  for (const address of addresses)
    await ask(
      `${name} ${address.slice(0, 120)}`,
      async () =>
        await api.call(method, address, { key, ...(method === "GET" ? {} : { body: {} }) }),
    );
  return addresses.length;
}

function expectNoFaults(): void {
  expect(faults.splice(0)).toEqual([]);
}

test.each(changes.map((operation) => [operation.name, operation] as const))(
  "%s: odd values in each field are refused or taken, quickly",
  async (_name, operation) => {
    const { body, path } = operation.input;
    let sent = 0;
    if (body !== undefined) sent += await sendBodies(operation, body);
    if (operation.csvBody !== undefined || operation.fileBody !== undefined)
      sent += await sendFiles(operation);
    if (path !== undefined || operation.input.query !== undefined)
      sent += await sendParameters(operation);
    expect(sent).toBeGreaterThanOrEqual(Math.min(FILES.length, VALUES.length, PARAMETERS.length));
    expectNoFaults();
  },
  600_000,
);

test.each(reads.map((operation) => [operation.name, operation] as const))(
  "%s: odd values in each parameter are refused or taken, quickly",
  async (_name, operation) => {
    await sendParameters(operation);
    expectNoFaults();
  },
  600_000,
);

test("a body of 10 MB is refused by every write before it is read", async () => {
  const raw = JSON.stringify({ reason: "x".repeat(HUGE_CHARACTERS) });
  for (const operation of changes.filter(
    (one) => one.fileBody === undefined && one.method !== "GET",
  )) {
    const path = operation.path.replaceAll(/\{\w+\}/g, "1");
    const headers = { "content-type": "application/json" };
    const answer = await ask(
      `${operation.name} 10 MB`,
      async () => await api.call(operation.method, path, { key: keyOf(operation), raw, headers }),
    );
    expect(answer.status, operation.name).toBe(413);
  }
  expectNoFaults();
});
