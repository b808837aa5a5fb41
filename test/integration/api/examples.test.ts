import { expect, test } from "vitest";
import { CALL_EXAMPLES } from "../../../api/notes/call-examples.ts";
import { operations } from "../../../api/operations.ts";
import { sampleCallOf } from "../../../api/reference/code-samples.ts";
import {
  bodiesOf,
  type DescribedOperation,
  operationsOf,
  successesOf,
} from "../../../api/reference/described-operation.ts";
import { buildOpenApi } from "../../../api/rest/openapi.ts";
import { aClick } from "../../samples/a-click-record.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { standInForWriters } from "../clicks/stand-in-writers.ts";
import { type Answer, ApiWorld, list, record } from "./api-world.ts";

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const SOON = { timeoutMs: 10_000, pollMs: 50 };
/** Terms of the offer with the hash of the example. */
const TERMS = "hello world";

const world = await forThisFile(ApiWorld.open());
const described = operationsOf(buildOpenApi({ operations, baseUrl: "https://api.example/api/v1" }));
/** Collection → the id of the record that its example created. */
const created = new Map<string, string>();
const sentCalls = new Set<string>();
/** Operation, answer and body of every example that was not accepted. */
const refused: (string | undefined)[][] = [];

test("every example is accepted by the service, in an order in which its records exist (G04)", async () => {
  await prepare();
  const creations = described.filter(({ id }) => id.startsWith("create"));
  // A conversion comes last, because it queues a delivery for the postback and the webhook.
  for (const operation of creations.toSorted((a, b) => rankOf(a) - rankOf(b)))
    await send(operation);
  await world.patch("/offers/1/settings", { terms: TERMS });
  await until("the deliveries are queued", areDeliveriesQueued, SOON);
  const removals = described.filter(({ method }) => method === "DELETE").toReversed();
  const others = described.filter((one) => !creations.includes(one) && !removals.includes(one));
  for (const operation of [...others, ...removals]) await send(operation);
  expect(refused).toEqual([]);
  expect([...sentCalls].toSorted()).toEqual(described.map(({ id }) => id).toSorted());
});

test("an example belongs to an operation, and its query to its parameters", () => {
  const known = new Map(operations.map((operation) => [operation.name, operation]));
  for (const [name, { query = {}, body }] of Object.entries(CALL_EXAMPLES)) {
    const operation = described.find(({ id }) => id === name);
    expect(operation, name).toBeDefined();
    if (operation === undefined) continue;
    expect([name, body !== undefined && known.get(name)?.input.body === undefined]).toEqual([
      name,
      false,
    ]);
    const sent = new URL(`http://x${sampleCallOf(operation).path}`).searchParams;
    expect([name, Object.fromEntries(sent)]).toEqual([name, query]);
  }
});

/** The records that examples name and that no example creates: partner 1 and advertiser 1, and a click. */
async function prepare(): Promise<void> {
  await world.startProcessor();
  expect([world.tenant.affiliateId, world.tenant.advertiserId]).toEqual([1, 1]);
  const click_id = "0194f3c2".repeat(4);
  const click = aClick({ click_id, workspace_id: world.tenant.workspaceId, offer_id: 1 });
  const row = JSON.stringify({ ...click, affiliate_id: 1, _producer: 9, _epoch: 1, _position: 0 });
  standInForWriters(world.nats, (query) => ({
    completeToMs: Number.MAX_SAFE_INTEGER,
    clicks: query.by === "id" && query.clickId === click_id ? [row] : [],
    ...(query.by === "page" ? { isCut: false } : {}),
  }));
  await world.nats.connection.flush();
}

const FIRST = ["createOffer", "createTrackingDomain"];

function rankOf({ id }: DescribedOperation): number {
  if (id === "createConversion") return 2;
  return FIRST.includes(id) ? 0 : 1;
}

async function areDeliveriesQueued(): Promise<boolean> {
  for (const path of ["/postbacks", "/webhooks"]) {
    const answer = await world.get(`${path}/${created.get(path) ?? ""}/deliveries`);
    const [delivery] = list(answer);
    if (delivery === undefined) return false;
    created.set(path.replace(/s$/, "-deliveries"), String(delivery.id));
  }
  return true;
}

async function send(operation: DescribedOperation): Promise<void> {
  const { id: name, method } = operation;
  const { needsKey, body, path } = sampleCallOf(operation);
  const [[status] = [""]] = successesOf(operation);
  const roles = operations.find((one) => one.name === name)?.access.roles ?? [];
  const role = roles.includes("admin") ? "admin" : (roles[0] ?? "admin");
  const key = needsKey ? world.tenant.keys[role] : undefined;
  const real = realPath(path);
  const sent = body === undefined ? undefined : realBody(body);
  const answer = await world.call(method, real, {
    key,
    ...(sent === undefined ? {} : { body: sent }),
  });
  if (answer.status !== Number(status)) refused.push([name, answer.text, JSON.stringify(sent)]);
  sentCalls.add(name);
  if (name.startsWith("create") && /^\/[\w-]+$/.test(path)) created.set(path, idOf(answer));
  for (const [type, media] of Object.entries(bodiesOf(operation))) {
    if (type === "application/json") continue;
    const raw = String(media["example"]);
    const again = await world.call(method, real, { key, raw, headers: { "content-type": type } });
    if (again.status !== Number(status)) refused.push([name, again.text, raw]);
  }
}

function idOf(answer: Answer): string {
  const { data } = answer.body;
  return typeof data === "object" && data !== null && "id" in data ? String(record(answer).id) : "";
}

/** Puts the id of the created record where an example has one of a made-up record. */
function realPath(path: string): string {
  const [, collection = "", part = ""] = /^(\/[\w-]+)\/([^/?]+)/.exec(path) ?? [];
  const id = created.get(collection);
  return id !== undefined && (part === "1" || UUID.test(part)) ? path.replace(part, id) : path;
}

function realBody(body: unknown): unknown {
  const id = created.get("/conversions");
  const text = JSON.stringify(body);
  return JSON.parse(id === undefined ? text : text.replace(UUID, id));
}
