import { beforeEach, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, clickIdOf } from "../ingress/click-answer.ts";
import { ClickPathsWorld, PARTNER } from "../ingress/click-paths-world.ts";
import { startReceiver } from "../outgoing/receiver.ts";
import { TrackingWorld } from "./tracking-world.ts";

let nextId = 0;

const UNKNOWN = "ab".repeat(16);
const NEIGHBOUR = "token-of-neighbour";

const receiver = await forThisFile(startReceiver());
const world = await forThisFile(ClickPathsWorld.open({ env: { ALLOW_PRIVATE_DESTINATIONS: "1" } }));
const forward_unknown_url = `http://127.0.0.1:${receiver.port}/pb?token=theirs`;
const shop = await world.addTenant("shop", { forward_unknown_url });
const plain = await world.addTenant("plain");
const uncontrolled = await world.addTenant("uncontrolled", { forward_unknown_url });
await world.addAdvertiser(shop.id, NEIGHBOUR);
for (const tenant of [shop, plain]) {
  const id = await world.addOffer(tenant, `NEXT${tenant.id}`);
  if (tenant === shop) nextId = id;
  await world.store.insert("traffic_control", {
    workspace_id: tenant.id,
    name: "forward",
    conditions: { countries: ["XX"] },
    action: "forward",
    forward_offer_id: id,
  });
}
await world.addOffer(shop, "OWN");
await world.untilCurrent();
beforeEach(() => receiver.answer((response) => void response.end("OK")));

const FORWARDED = '200 {"ok":true,"status":"forwarded","forwarded":true}';
const UNKNOWN_CLICK = '200 {"ok":false,"error":"unknown click_id"}';
const OUTAGE = '503 {"ok":false,"error":"temporarily unavailable"}';

const textOf = ({ status, body }: Answer): string => `${status} ${body}`;

/** The answer of `/pb`, and how many requests the other system received meanwhile. */
async function send(query: string, token = shop.postbackToken): Promise<[string, number]> {
  const before = receiver.received.length;
  const answer = await world.ask(`/pb?token=${token}&${query}`);
  return [textOf(answer), receiver.received.length - before];
}

test("a report of an unknown click is forwarded with its query, and only logged here (PB-062, G117)", async () => {
  const query = `click_id=${UNKNOWN}&amount=9.90&event=sale&adv1=a%20b&email=a%40b.example`;
  expect(await send(query)).toEqual([FORWARDED, 1]);
  const { method, target, headers } = receiver.received.at(-1) ?? { target: "", headers: {} };
  expect(method).toBe("GET");
  expect(target).toBe(`/pb?token=theirs&click_id=${UNKNOWN}&amount=9.90&event=sale&adv1=a+b`);
  expect(headers).toMatchObject({ host: `127.0.0.1:${receiver.port}` });
  expect(await world.store.rows("select id from conversion")).toEqual([]);
  const logged = "select workspace_id, click_id, conversion_id from postback_log where result = $1";
  await expect
    .poll(() => world.store.rows(logged, ["forwarded"]))
    .toEqual([{ workspace_id: shop.id, click_id: UNKNOWN, conversion_id: null }]);
});

test("a report by POST is forwarded with the parameters of its body (PB-062)", async () => {
  const body = JSON.stringify({ token: shop.postbackToken, tid: UNKNOWN, amount: 5 });
  const headers = { "content-type": "application/json" };
  const answer = await world.ask("/pb", { method: "POST", headers, body });
  expect(textOf(answer)).toBe(FORWARDED);
  expect(receiver.received.at(-1)).toMatchObject({
    method: "GET",
    target: `/pb?token=theirs&tid=${UNKNOWN}&amount=5`,
  });
});

test("a report is forwarded only with the setting and a matching forward rule (G117)", async () => {
  const click = `click_id=${UNKNOWN}`;
  expect(await send(click, plain.postbackToken)).toEqual([UNKNOWN_CLICK, 0]);
  expect(await send(click, uncontrolled.postbackToken)).toEqual([UNKNOWN_CLICK, 0]);
  expect(await send(click, NEIGHBOUR)).toEqual([UNKNOWN_CLICK, 0]);
  expect(await send(`${click}&offer_id=OWN`)).toEqual([UNKNOWN_CLICK, 0]);
  expect(await send(`${click}&offer_id=${nextId}`)).toEqual([FORWARDED, 1]);
  expect(await send(click, "advertiser-of-shop")).toEqual([FORWARDED, 1]);
});

test("known clicks, pixels, ad IDs, malformed reports and tests are not forwarded (G117)", async () => {
  const known = clickIdOf(await world.ask(`/r/OWN/${PARTNER}`));
  expect(known).not.toBe("");
  const [answer, relayed] = await send(`click_id=${known}`);
  expect(answer).toMatch(/^200 \{"ok":true,"conversion_id":"[0-9a-f-]{36}","status":"approved"\}$/);
  expect(relayed).toBe(0);
  const none = '200 {"ok":false,"error":"no click found for gclid"}';
  expect(await send("gclid=nobody")).toEqual([none, 0]);
  expect((await send("click_id=short"))[1]).toBe(0);
  expect((await send(`click_id=${UNKNOWN}&amount=-1`))[1]).toBe(0);
  const before = receiver.received.length;
  await world.ask(`/px?click_id=${UNKNOWN}`);
  expect(receiver.received.length).toBe(before);
  const tried =
    '{"ok":true,"status":"forwarded","forwarded":true,"conversion_id":null,"test":true}';
  expect(await send(`click_id=${UNKNOWN}&test=1`)).toEqual([`200 ${tried}`, 0]);
});

test("a click of another workspace is answered like an unknown one (PB-057)", async () => {
  await world.addOffer(plain, "THEIRS");
  await world.untilCurrent();
  const foreign = clickIdOf(await world.ask(`/r/THEIRS/${PARTNER}`));
  expect(foreign).not.toBe("");
  expect(await send(`click_id=${foreign}`)).toEqual([FORWARDED, 1]);
});

test("a forward that the other system does not accept is an outage (P15)", async () => {
  const click = `click_id=${UNKNOWN}`;
  for (const status of [302, 404, 500]) {
    receiver.answer((response) => void response.writeHead(status, { location: "/" }).end());
    expect(await send(click)).toEqual([OUTAGE, 1]);
  }
  receiver.answer((response) => void response.destroy());
  expect((await send(click))[0]).toBe(OUTAGE);
  receiver.answer((response) => void response.end());
  expect(await send(click)).toEqual([FORWARDED, 1]);
});

test("a forwarded report is not forwarded again (G117)", async () => {
  const before = receiver.received.length;
  const target = `/pb?token=${shop.postbackToken}&click_id=${UNKNOWN}`;
  expect(textOf(await world.ask(target))).toBe(FORWARDED);
  const via = String(receiver.received.at(-1)?.headers["via"]);
  const answer = await world.ask(target, { headers: { via } });
  expect(textOf(answer)).toBe(UNKNOWN_CLICK);
  expect(receiver.received.length).toBe(before + 1);
});

test("by default a loopback address in the setting is never connected to (G127)", async () => {
  const strict = await TrackingWorld.open();
  try {
    const offerId = await strict.addOffer();
    await strict.insert("traffic_control", {
      workspace_id: strict.workspaceId,
      name: "f",
      action: "forward",
      forward_offer_id: offerId,
    });
    const before = receiver.connections();
    for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]) {
      const url = `http://${host}:${receiver.port}/`;
      await strict.change("update workspace set forward_unknown_url = $1", [url]);
      expect(await strict.report({ click_id: UNKNOWN }, { isSentOnce: true })).toMatchObject({
        httpStatus: 503,
        result: "unavailable",
      });
    }
    expect(receiver.connections()).toBe(before);
  } finally {
    await strict.close();
  }
});
