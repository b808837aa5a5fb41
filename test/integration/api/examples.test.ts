import { expect, test } from "vitest";
import { z } from "zod";
import { CALL_EXAMPLES } from "../../../api/docs/notes/call-examples.ts";
import { buildOpenApi } from "../../../api/docs/openapi/openapi.ts";
import { sampleCallOf } from "../../../api/docs/reference/code-samples.ts";
import {
  bodiesOf,
  type DescribedOperation,
  operationsOf,
  successesOf,
} from "../../../api/docs/reference/described-operation.ts";
import { operations } from "../../../api/operations.ts";
import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { afterAllPosted, until } from "../../system/until.ts";
import { StatementBooks } from "../billing/statement-books.ts";
import { approvedStatement } from "../billing/statement-rows.ts";
import { standInForWriters } from "../clicks/stand-in-writers.ts";
import { ApiWorld } from "./api-world.ts";
import { makePerson, openAs, outcome, PersonBrowser } from "./people/person-browser.ts";

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
/** A path with an id, in the form of an example. */
const OF_RECORD = new RegExp(`^((?:/[a-z-]+)+)/(1(?![\\w-])|${UUID.source})`);
const CLICK_ID = "0194f3c2".repeat(4);
/** The text with the hash of the example. */
const TERMS = "hello world";
const JSON_TYPE = "application/json";
const FILE = "application/octet-stream";
const NEEDS_STATE: ReadonlySet<string> = new Set([
  "approveInvoice",
  "voidInvoice",
  "creditInvoice",
  "approvePayoutRun",
  "cancelPayoutRun",
  "exportPayoutRun",
  "releasePayoutLine",
  "setPayoutResults",
]);
const FIRST = ["createOffer", "createTrackingDomain"];
const Created = z.object({ data: z.looseObject({ id: z.union([z.int(), z.string()]) }) });
const Listed = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

const world = await forThisFile(ApiWorld.open());
const document = buildOpenApi({ operations, baseUrl: "https://api.example/api/v1" });
const described = operationsOf(document);
const forKeys = described.filter(({ id }) => callersOf(id) === undefined);
const forPeople = described.filter((one) => !forKeys.includes(one));
const creations = forKeys.filter(({ id }) => id.startsWith("create"));
const removals = forKeys.filter(({ method }) => method === "DELETE").toReversed();
/** Only a draft is voided. */
const voiding = forKeys.filter(({ id }) => id === "voidStatement");
const others = forKeys.filter((one) => ![...creations, ...removals, ...voiding].includes(one));
/** Collection → the id of the record that its example created. */
const created = new Map<string, string>();

test("partner 1, advertiser 1 and the click of the examples exist", async () => {
  await world.startProcessor();
  expect([world.tenant.affiliateId, world.tenant.advertiserId]).toEqual([1, 1]);
  const billing = { enabled: true, starts_on: "2026-01-01" };
  expect((await world.patch("/billing-settings", billing)).status).toBe(200);
  await makeStatements();
  const { atMs } = clickIdParts(CLICK_ID);
  await world.clickhouse.command({
    query: `insert into click (click_id, ts, workspace_id, offer_id, affiliate_id, link_type, status)
            values (unhex({id:String}), fromUnixTimestamp64Milli({atMs:Int64}), {workspace:UInt32}, 1, 1, 'affiliate', 'redirect')`,
    query_params: { id: CLICK_ID, atMs, workspace: world.tenant.workspaceId },
  });
  // No click is on its way to the store.
  standInForWriters(world.nats, () => ({ completeToMs: Number.MAX_SAFE_INTEGER, clicks: [] }));
  await world.nats.connection.flush();
});

test("invoice 1 of the examples exists, and is sent", async () => {
  const { workspaceId, advertiserId } = world.tenant;
  const entry = { currency: "USD", eventCode: "default", count: 1 };
  const of = { account: "advertiser_receivable", ownerId: advertiserId } as const;
  await inTransaction(world.pool, async (tx) => {
    const entries = [
      { ...entry, ...of, amount: 5_000_000n },
      { ...entry, account: "revenue", ownerId: 0, amount: -5_000_000n } as const,
    ];
    const revenue = { kind: "conversion", sourceKind: "examples", sourceId: "1", entries } as const;
    await postLedger(tx, workspaceId, [revenue]);
  });
  const range = { advertiser_id: advertiserId, until: await afterAllPosted() };
  const closed = await world.post("/invoices/close", range);
  expect(closed.status, closed.text).toBe(200);
  expect((await world.post("/invoices/1/approve", undefined)).status).toBe(200);
});

// A conversion comes last, because it queues a delivery for the postback and the webhook.
test.each(creations.toSorted((a, b) => rankOf(a) - rankOf(b)))(
  "the example of $id is accepted",
  async (operation) => {
    const answer = await expectAccepted(operation);
    if (/\/\{/.test(operation.path)) return;
    const record = Created.safeParse(answer);
    if (record.success) created.set(operation.path, String(record.data.data.id));
  },
);

/** The partner is paid on request: its first statement is approved and has a kept file, its second is a draft, and more was earned. */
async function makeStatements(): Promise<void> {
  const books = new StatementBooks(world, world.tenant.workspaceId);
  await world.rows("update affiliate set payment_terms = 'on_request' where id = 1");
  await books.earn({ affiliateId: 1, currency: "USD", amount: "10" });
  const [first] = await books.closeNow(1);
  await books.approve(first?.row.id ?? 0);
  expect((await world.get("/statements/1/files/html")).status).toBe(200);
  await books.earn({ affiliateId: 1, currency: "EUR", amount: "10" });
  await books.closeNow(1);
  await books.earn({ affiliateId: 1, currency: "USD", amount: "10" });
  await approvedStatement(world, { affiliateId: 1, currency: "GBP", amount: "5" });
}

test("the example's conversion queues a delivery for its postback and its webhook", async () => {
  const terms = await call("PATCH", "/offers/1/settings", JSON.stringify({ terms: TERMS }));
  expect(terms.status).toBe(200);
  for (const kind of ["postback", "webhook"]) {
    const path = `/${kind}s/${created.get(`/${kind}s`) ?? ""}/deliveries`;
    const id = await until(
      `a delivery of the ${kind}`,
      async () => Listed.parse(JSON.parse((await call("GET", path)).text)).data[0]?.id,
      { pollMs: 50 },
    );
    created.set(`/${kind}-deliveries`, id);
  }
});

test.each(others)("the example of $id is accepted", async (operation) => {
  if (operation.id === "undoConversionUpdate") await updateIsDone();
  await expectAccepted(operation);
});

/** What is still being applied cannot be undone. */
async function updateIsDone(): Promise<void> {
  const path = `/conversion-updates/${created.get("/conversion-updates") ?? ""}`;
  await until(
    "the file of confirmations is applied",
    async () => (await call("GET", path)).text.includes('"status":"done"'),
    { pollMs: 50 },
  );
}

test.each(voiding)("the example of $id is accepted", async (operation) => {
  created.set("/statements", "2");
  await expectAccepted(operation);
});

test("the partner's request waits again", async () => {
  await world.pool.query({ text: "delete from offer_access" });
  for (const asked of others.filter(({ id }) => id === "requestAccess"))
    await expectAccepted(asked);
});

test.each(removals)("the example of $id is accepted", async (operation) => {
  await expectAccepted(operation);
});

/** The secrets in these examples cannot be right: the form is accepted, and then the secret or the made-up record is refused. */
const REFUSALS = ["401 sign_in_required", "404 not_found", "409 conflict"];

test("a signed-in admin or operator gets past the form of every example for people", async () => {
  const browser = await openAs(world, "anna@shop.example", world.tenant, { role: "admin" });
  await makePerson(world.pool, "runs@it.example", true);
  const operator = new PersonBrowser(world.origin);
  await operator.signIn("runs@it.example");
  // What ends the session comes last.
  const ends = (one: DescribedOperation): number => Number(one.id === "signOut");
  expect(forPeople.length).toBeGreaterThan(25);
  for (const one of forPeople.toSorted((a, b) => ends(a) - ends(b))) {
    const { body, path } = sampleCallOf(one);
    const caller = /^.(?:system|workspaces)/.test(path) ? operator : browser;
    const answer = await caller.call(one.method, path, { body });
    const isWrongSecret = answer.text.includes("this is wrong, or was used before");
    const accepted = [
      ...successesOf(one).map(([status]) => status),
      ...REFUSALS,
      ...(isWrongSecret ? ["403 forbidden"] : []),
    ];
    expect(accepted, `${one.id} ${answer.text}`).toContain(outcome(answer));
  }
});

test("an example belongs to an operation, and its query to its parameters", () => {
  const bodies = new Set(operations.filter(({ input }) => input.body !== undefined).map(nameOf));
  for (const [name, { query = {}, body }] of Object.entries(CALL_EXAMPLES)) {
    const operation = described.find(({ id }) => id === name);
    expect(operation, name).toBeDefined();
    if (operation === undefined) continue;
    const sent = new URL(`http://x${sampleCallOf(operation).path}`).searchParams;
    expect([name, Object.fromEntries(sent)]).toEqual([name, query]);
    expect([name, body === undefined || bodies.has(name)]).toEqual([name, true]);
  }
});

/** Undefined for what keys may do. */
function callersOf(id: string): string | undefined {
  return operations.find(({ name }) => name === id)?.access.callers;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function rankOf({ id }: DescribedOperation): number {
  if (id === "createConversion") return 2;
  return FIRST.includes(id) ? 0 : 1;
}

/** Sends the examples of all media types. Returns the answer to the JSON body, or to the file. */
async function expectAccepted(operation: DescribedOperation): Promise<unknown> {
  const { id: name, method } = operation;
  const { needsKey, body, path } = sampleCallOf(operation);
  const statuses = successesOf(operation).map(([status]) => Number(status));
  const key = needsKey ? keyFor(name) : undefined;
  const { [FILE]: file, ...bodies } = bodiesOf(operation);
  const json = body === undefined ? undefined : withRealIds(JSON.stringify(body));
  const sent = file === undefined ? json : String(file["example"]);
  const type = file === undefined ? JSON_TYPE : FILE;
  const answer = await call(method, realPath(path), sent, { key, type });
  // Of one invoice or payout run only one of these is possible at a time.
  if (NEEDS_STATE.has(name) && answer.status === 409) return undefined;
  expect(statuses, [name, json, answer.status, answer.text.slice(0, 500)].join("\n")).toContain(
    answer.status,
  );
  for (const [other, { example }] of Object.entries(bodies)) {
    if (other === JSON_TYPE) continue;
    const again = await call(method, realPath(path), String(example), { key, type: other });
    expect(statuses, [name, other, again.status, again.text].join("\n")).toContain(again.status);
  }
  return answer.text.startsWith("{") ? JSON.parse(answer.text) : answer.text;
}

/** An admin's key where admins may call the operation. */
function keyFor(name: string): string {
  const [role = "admin", ...more] = operations.find((one) => one.name === name)?.access.roles ?? [];
  return world.tenant.keys[more.includes("admin") ? "admin" : role];
}

type Sent = { readonly key?: string | undefined; readonly type?: string };

async function call(
  method: string,
  path: string,
  body?: string,
  { key = world.tenant.keys.admin, type = JSON_TYPE }: Sent = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${world.origin}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": type }),
    },
    body: body ?? null,
  });
  return { status: answer.status, text: await answer.text() };
}

/** Puts the id of the created record where an example has the id of a made-up one. */
function realPath(path: string): string {
  const [, collection = "", part = ""] = OF_RECORD.exec(path) ?? [];
  return path.replace(part, created.get(collection) ?? part);
}

function withRealIds(json: string): string {
  return json.replace(UUID, created.get("/conversions") ?? "");
}
