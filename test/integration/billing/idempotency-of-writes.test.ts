import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { operations } from "../../../api/operations.ts";
import { newSecretKey, SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, details, refusal } from "../api/api-world.ts";
import { MoneyWrites, moneyWrites, type Write } from "./money-writes.ts";

const writes = await forThisFile(MoneyWrites.open());
const { api, world } = writes;

const FILES_AND_KEYS = /^\/(conversion-updates|keys|me\/keys)(\/|$)/;
const posts = [
  ...moneyWrites,
  ...operations.filter(({ path, access }) => FILES_AND_KEYS.test(path) && access.isWrite),
].filter(({ method }) => method === "POST");
const named = posts.map((operation) => [operation.name, operation] as const);

/** Written by every request, whatever it is. */
const OF_REQUESTS = /^(audit_log|rate_)/;
/** Only counted: a key notes when it was used. */
const COUNTED = /^(api_key|idempotent_answer)$/;

/** Made with the first money of a currency. */
const MADE_ONCE = /^(ledger_account|ledger_balance|billing_series)$/;

type State = Readonly<Record<string, { readonly rows: number; readonly content: string }>>;

/** How many rows each table has, and what they say. */
async function state(): Promise<State> {
  await writes.quiet();
  const tables = await api.rows<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
     and not c.relispartition order by 1`,
  );
  const counted = tables
    .filter(({ name }) => !OF_REQUESTS.test(name))
    .map(({ name }) => {
      const content = COUNTED.test(name)
        ? "''"
        : "md5(coalesce(string_agg(t::text, ',' order by t::text), ''))";
      return `select '${name}' as name, count(*)::int as rows, ${content} as content from "${name}" t`;
    })
    .join(" union all ");
  const rows = await api.rows<{ name: string; rows: number; content: string }>(counted);
  return Object.fromEntries(rows.map(({ name, ...seen }) => [name, seen]));
}

/** What was added, by table. */
function added(before: State, after: State): Record<string, number> {
  const grown = Object.entries(after).map(([name, { rows }]): [string, number] => [
    name,
    rows - (before[name]?.rows ?? 0),
  ]);
  return Object.fromEntries(grown.filter(([name, rows]) => rows !== 0 && !MADE_ONCE.test(name)));
}

async function sendKeyed(operation: (typeof posts)[number], write: Write, key: string) {
  return await writes.send(operation, write, { "idempotency-key": key });
}

function isReplay({ headers }: Answer): boolean {
  return headers.get("idempotency-replayed") === "true";
}

test("every POST of money, files and keys keeps its answer, and has a case here (N5)", () => {
  const forgetful = posts.filter(({ keepsAnswer }) => keepsAnswer === undefined);
  expect(forgetful.map(({ name }) => name)).toEqual([]);
  expect(posts.filter(({ name }) => writes.make[name] === undefined)).toEqual([]);
  expect(posts.length).toBeGreaterThanOrEqual(24);
});

test.each(named)(
  "%s: sent twice, and twice at one moment, it has one effect (N5)",
  async (name, operation) => {
    const make = writes.make[name];
    if (make === undefined) throw new Error(`no case of ${name}`);
    const write = await make();
    const before = await state();
    const first = await sendKeyed(operation, write, `${name}.1`);
    expect([first.status, isReplay(first)], first.text).toEqual([operation.status, false]);
    const after = await state();
    const again = await sendKeyed(operation, write, `${name}.1`);
    expect([again.status, again.text, isReplay(again)]).toEqual([first.status, first.text, true]);
    expect(await state()).toEqual(after);
    const other = { ...write, path: `${write.path}${write.path.includes("?") ? "&" : "?"}other=1` };
    const refused = await sendKeyed(operation, other, `${name}.1`);
    expect([refusal(refused), details(refused).field]).toEqual(["409 conflict", "idempotency_key"]);
    expect(await state()).toEqual(after);

    const raced = await make();
    const start = await state();
    const both = await Promise.all([1, 2].map(() => sendKeyed(operation, raced, `${name}.2`)));
    const last = await sendKeyed(operation, raced, `${name}.2`);
    expect([last.status, isReplay(last)], last.text).toEqual([first.status, true]);
    // Whoever came second waits or gets the first answer.
    const underWay = both.filter(({ status }) => status === 409);
    for (const answer of underWay) {
      expect(details(answer).field).toBe("idempotency_key");
      expect(answer.headers.get("retry-after")).toBe("1");
    }
    for (const answer of both.filter((one) => !underWay.includes(one)))
      expect([answer.status, answer.text]).toEqual([last.status, last.text]);
    expect(both.filter((answer) => answer.status < 300 && !isReplay(answer))).toHaveLength(1);
    expect(added(start, await state())).toEqual(added(before, after));
  },
);

test("the answer with a new key is kept sealed, and without SECRETS_KEY not at all (N5, N9)", async () => {
  const body = { name: "sealed", role: "analyst" };
  const headers = { "idempotency-key": "sealed" };
  const made = await api.call("POST", "/keys", { body, headers });
  const { key } = z.looseObject({ key: z.string() }).parse(made.body["data"]);
  const kept = await api.rows<{ row: string; sealed: Buffer | null }>(
    "select t::text as row, sealed from idempotent_answer t where key like '%/sealed'",
  );
  expect(kept).toHaveLength(1);
  expect(kept[0]?.row).not.toContain(key);
  expect(kept[0]?.sealed?.includes(key)).toBe(false);
  expect((await api.call("POST", "/keys", { body, headers })).text).toBe(made.text);
  const { workspaceId } = api.tenant;
  const colleague = await insertKey(api.pool, { workspaceId, name: "colleague", role: "admin" });
  const theirs = await api.call("POST", "/keys", { body, headers, key: colleague });
  expect([theirs.status, isReplay(theirs), theirs.text.includes(key)]).toEqual([201, false, false]);
  const origin = await api.startAnother({ secretKeys: new SecretKeys(() => undefined) });
  const send = (more: Readonly<Record<string, string>>) =>
    api.callAt(origin, "POST", "/keys", { body, headers: more });
  for (const name of ["sealed", "unsealed"])
    expect(refusal(await send({ "idempotency-key": name }))).toBe("503 unavailable");
  expect((await send({})).status).toBe(201);
  const ring = newSecretKey();
  const other = await api.startAnother({ secretKeys: new SecretKeys(() => ring) });
  expect(refusal(await api.callAt(other, "POST", "/keys", { body, headers }))).toBe(
    "503 unavailable",
  );
});

test("lists that approve the same statements in opposite order both answer (N5, N49)", async () => {
  const lists = await Promise.all(
    [1, 2, 3].map(async () => await writes.make["approveStatements"]?.()),
  );
  const ids = lists.flatMap((write) => z.array(z.int()).parse(write?.body?.["ids"]));
  expect(ids).toHaveLength(6);
  const send = async (key: string, asked: readonly number[]) =>
    await api.call("POST", "/statements/approve", {
      body: { ids: asked },
      headers: { "idempotency-key": key },
    });
  const answers = await Promise.all([send("up", ids), send("down", ids.toReversed())]);
  const Outcomes = z.array(z.looseObject({ id: z.int(), outcome: z.string(), number: z.string() }));
  const seen = answers.map(({ status, body, text }) => {
    expect(status, text).toBe(200);
    return Outcomes.parse(body["data"]);
  });
  const approved = seen.flat().filter(({ outcome }) => outcome === "approved");
  expect(approved.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(
    ids.toSorted((a, b) => a - b),
  );
  expect(new Set(seen.flat().map(({ number }) => number)).size).toBe(ids.length);
  await world.expectInBalance();
});
