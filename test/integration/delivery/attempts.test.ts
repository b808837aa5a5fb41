import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { restartDelivery } from "../../../api/messages/postbacks/postback-deliveries.ts";
import {
  leaseDueDeliveries,
  listDueEndpoints,
  settleDelivery,
} from "../../../processors/delivery/deliveries.ts";
import { addressForms } from "../../../schemas/erasure/address-forms.ts";
import { erase } from "../../../schemas/erasure/erasures.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { DeliveryWorld, WEBHOOK_SECRET } from "./delivery-world.ts";

const IP = "203.0.113.91";

const world = await forThisFile(DeliveryWorld.open());
world.tracking.startWriters();
await world.tracking.change("update workspace set ip_storage = 'full'");
afterEach(async () => {
  await world.stopLanes();
  world.receiver.answer((response) => void response.end());
});

type Attempt = {
  readonly number: number;
  readonly status: string;
  readonly url: string;
  readonly body: string | null;
};

/** The attempts of all deliveries of a conversion, oldest first. */
async function attempts(conversionId: string): Promise<Attempt[]> {
  return await world.tracking.rows<Attempt>(
    `select a.number, a.status, a.method, a.url, a.body, a.error, a.response_status, a.response_body,
       a.sent_at between d.created_at and clock_timestamp() as is_in_time, a.duration_ms >= 0 as is_measured
     from delivery_attempt a join delivery d on d.id = a.delivery_id
     where d.conversion_id = $1 order by a.sent_at, a.number`,
    [conversionId],
  );
}

/** Answers these statuses, one after the other, and then 200. */
function answer(...statuses: readonly number[]): void {
  const left = [...statuses];
  world.receiver.answer((response) => {
    const status = left.shift() ?? 200;
    response.writeHead(status).end(`said ${status}`);
  });
}

async function conversionWith(fields: Record<string, unknown>): Promise<string> {
  const offerId = await world.tracking.addOffer();
  await world.addPostback(offerId, fields);
  return await world.convert(offerId);
}

test("each attempt is kept with its request and its answer, also those that failed (#39, D8)", async () => {
  answer(500, 404);
  world.startLane();
  const url = world.url("kept?s={status}");
  const id = await conversionWith({ url, method: "POST", body: '{"payout":"{payout}"}' });
  await world.settled(id);
  const [sent] = world.arrived("kept");
  const request = { method: "POST", url: world.url("kept?s=approved"), body: sent?.body };
  const measured = { is_in_time: true, is_measured: true };
  const failed = (number: number, code: number, text: string) => ({
    number,
    status: "retrying",
    ...request,
    error: `HTTP ${code} ${text}`,
    response_status: code,
    response_body: `said ${code}`,
    ...measured,
  });
  expect(await attempts(id)).toEqual([
    failed(1, 500, "Internal Server Error"),
    failed(2, 404, "Not Found"),
    {
      number: 3,
      status: "delivered",
      ...request,
      error: "",
      response_status: 200,
      response_body: "said 200",
      ...measured,
    },
  ]);
});

test("the attempts before a retry by hand stay, and their numbers go on (#39, D8)", async () => {
  answer(500, 500, 500, 500);
  world.startLane();
  const id = await conversionWith({ url: world.url("again") });
  const [failed] = await world.settled(id);
  expect(failed).toMatchObject({ status: "failed", attempts: 4 });
  await restartDelivery(world.tracking.pool, failed?.id ?? "", "request-1");
  const ended = await until("it is delivered", async () =>
    (await world.deliveries(id)).find(({ status }) => status === "delivered"),
  );
  expect(ended.attempts).toBe(1);
  expect((await attempts(id)).map(({ number, status }) => [number, status])).toEqual([
    [1, "retrying"],
    [2, "retrying"],
    [3, "retrying"],
    [4, "failed"],
    [5, "delivered"],
  ]);
});

test("a delivery held back for a rejected conversion keeps the address and answer it had (#39, D8)", async () => {
  answer(500);
  world.startLane({ waitsMs: [1_000, 50, 50] });
  const id = await conversionWith({ url: world.url("held") });
  await until("the first attempt has failed", async () => (await attempts(id)).length === 1);
  await world.setStatus(id, "rejected");
  expect(await world.settled(id)).toMatchObject([
    {
      status: "failed",
      error: "conversion rejected",
      attempts: 1,
      url: world.url("held"),
      response_status: 500,
      response_body: "said 500",
    },
  ]);
  expect(await attempts(id)).toMatchObject([{ number: 1, status: "retrying" }]);
  // Approved again it is sent, as the second attempt.
  await world.setStatus(id, "approved");
  await until("it is delivered", async () =>
    (await world.deliveries(id)).some(({ status }) => status === "delivered"),
  );
  expect(await attempts(id)).toMatchObject([{ number: 1 }, { number: 2, status: "delivered" }]);
});

/** Leases the only due delivery, as a worker does. */
async function leaseOne(leaseMs = 30_000) {
  const { pool } = world.tracking;
  const grants = (await listDueEndpoints(pool)).map((endpoint) => ({ ...endpoint, rows: 1 }));
  const [leased] = await leaseDueDeliveries(pool, { token: randomUUID(), leaseMs, grants });
  if (leased === undefined) throw new Error("nothing is due");
  return leased;
}

const RETRYING = {
  status: "retrying",
  url: "http://x/",
  error: "timeout",
  response_status: null,
  response_body: "",
  retry_in_ms: 0,
  is_sent: true,
  is_endpoints_fault: true,
  method: "GET",
} as const;

test("a result is one attempt however often it is recorded, and a lost one leaves its number free (P22)", async () => {
  const { pool } = world.tracking;
  const id = await conversionWith({ url: world.url("lost") });
  const first = await leaseOne();
  expect(await settleDelivery(pool, first, RETRYING)).toBe("settled");
  expect(await settleDelivery(pool, first, RETRYING)).toBe("stale");
  // A worker that dies between sending and recording: nobody knows the result of the second attempt.
  const dead = await leaseOne(0);
  const third = await leaseOne();
  expect(await settleDelivery(pool, dead, RETRYING)).toBe("stale");
  expect(await settleDelivery(pool, third, { ...RETRYING, status: "failed" })).toBe("settled");
  expect((await attempts(id)).map(({ number }) => number)).toEqual([1, 3]);
});

test("of many attempts the last 50 are kept, with a limited part of what was sent (#39, D8)", async () => {
  const { pool } = world.tracking;
  const id = await conversionWith({ url: world.url("many") });
  const long = "x".repeat(10_000);
  for (let n = 1; n <= 53; n += 1)
    await settleDelivery(pool, await leaseOne(), {
      ...RETRYING,
      url: `http://x/${long}`,
      body: long,
      ...(n === 53 && { status: "failed" }),
    });
  const kept = await attempts(id);
  expect(kept.map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, n) => n + 4));
  for (const { url, body } of kept) expect([url.length, body?.length]).toEqual([8_192, 8_192]);
  await world.tracking.rows("delete from delivery where conversion_id = $1", [id]);
  expect(await world.tracking.rows("select from delivery_attempt where number > 40")).toEqual([]);
});

test("an erasure clears the person in every attempt, and the rows stay (#19, G207)", async () => {
  const offerId = await world.tracking.addOffer();
  const url = world.url("person?g={gclid}");
  await world.addPostback(offerId, { url, method: "POST", body: "g={gclid}&ip={ip}" });
  world.receiver.answer((response, { target }) => response.writeHead(500).end(`got ${target}`));
  world.startLane();
  const visit = async (gclid: string) => {
    const click = await world.tracking.addClick({ offer_id: offerId, gclid, ip: IP });
    const { body } = await world.tracking.report({ click_id: click.click_id, ip: IP });
    const id = String(body["conversion_id"]);
    await world.settled(id);
    return { click, id };
  };
  const [person, neighbour] = [await visit("gclid-person"), await visit("gclid-neighbour")];
  const { pool: db, clickhouse, workspaceId } = world.tracking;
  expect(JSON.stringify(await attempts(person.id))).toContain("gclid-person");
  await erase(
    { db, clickhouse },
    { workspaceId, subject: { kind: "click", clickId: person.click.click_id } },
  );
  const cleared = await attempts(person.id);
  expect(cleared).toHaveLength(4);
  for (const one of cleared) expect(one).toMatchObject({ url: "", body: "", response_body: "" });
  expect(JSON.stringify(await attempts(neighbour.id))).toContain("gclid-neighbour");
  const forms = addressForms(IP);
  if (forms === undefined) throw new Error(IP);
  await erase({ db, clickhouse }, { workspaceId, subject: { kind: "ip", forms } });
  const others = await attempts(neighbour.id);
  expect(others).toHaveLength(4);
  for (const one of others)
    expect([one.url, one.body]).toEqual([world.url("person?g=gclid-neighbour"), ""]);
});

test("the attempts of a webhook keep no secret and no signature (P26, P31)", async () => {
  const offerId = await world.tracking.addOffer();
  await world.addWebhook("signed");
  world.startLane();
  const id = await world.convert(offerId);
  await world.told("signed", 1);
  await world.settled(id);
  const [request] = world.arrived("signed");
  const signature = String(request?.headers["x-tracker-signature"]);
  const rows = await world.tracking.rows<{ text: string }>(
    `select a::text as text from delivery_attempt a join delivery d on d.id = a.delivery_id
     where d.conversion_id = $1`,
    [id],
  );
  expect(rows).toHaveLength(1);
  for (const secret of [WEBHOOK_SECRET, signature, signature.replace(/.*v1=/, "")])
    expect(rows[0]?.text).not.toContain(secret);
});
