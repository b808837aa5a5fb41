import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { type Answer, clickIdOf } from "../ingress/click-answer.ts";
import { type Asking, ClickPathsWorld, GERMAN_IP, PARTNER } from "../ingress/click-paths-world.ts";
import { startReceiver } from "../outgoing/receiver.ts";

const HOST = "trk.shop.example";
const RELAYING_HOST = "trk.relay.example";
const UNKNOWN_ID = "ab".repeat(16);
const GUARDED_TOKEN = "token-with-a-list";
const PAUSED_TOKEN = "token-of-nobody-now";
const EMAIL = "canary-4711@person.example";
const PHONE = "+491515550199";
const JSON_BODY = { "content-type": "application/json" };
const Found = z.strictObject({ click_id: z.string(), source: z.string() });
const SOON = { timeout: 10_000, interval: 50 };
let marks = 0;

const receiver = await forThisFile(startReceiver());
const world = await forThisFile(ClickPathsWorld.open({ env: { ALLOW_PRIVATE_DESTINATIONS: "1" } }));
const shop = await world.addTenant("shop", { ip_storage: "truncated" });
const relaying = await world.addTenant("relaying", {
  forward_unknown_url: `http://127.0.0.1:${receiver.port}/pb`,
});
for (const [tenant, host] of [
  [shop, HOST],
  [relaying, RELAYING_HOST],
] as const)
  await world.store.insert("tracking_domain", { workspace_id: tenant.id, host });
await world.addOffer(shop, "SHOP");
await world.addOffer(shop, "REVIEW", { default_status: "pending" });
const guarded = await world.addAdvertiser(shop.id, GUARDED_TOKEN, {
  postback_ip_allowlist: ["198.51.100.0/24"],
});
await world.addAdvertiser(shop.id, PAUSED_TOKEN, { status: "paused" });
await world.addOffer(shop, "GUARDED", { advertiser_id: guarded });
const organicId = await world.addAffiliate(shop.id, "HOUSE1");
await world.store.change("update workspace set organic_affiliate_id = $1 where id = $2", [
  organicId,
  shop.id,
]);
const forward_offer_id = await world.addOffer(relaying, "NEXT");
await world.store.insert("traffic_control", {
  workspace_id: relaying.id,
  name: "forward",
  conditions: { countries: ["XX"] },
  action: "forward",
  forward_offer_id,
});
await world.untilCurrent();

async function ask(target: string, asking: Asking = {}): Promise<Answer> {
  return await world.ask(target, { host: HOST, ...asking });
}

async function newClick(offer = "SHOP", query = ""): Promise<string> {
  const id = clickIdOf(await ask(`/r/${offer}/${PARTNER}${query}`));
  expect(id).not.toBe("");
  return id;
}

/** The query of a report with the workspace's token. */
async function report(offer = "SHOP"): Promise<string> {
  return `token=${shop.postbackToken}&click_id=${await newClick(offer)}`;
}

/** A value of `adv1` by which a row is found. */
function newMark(): string {
  marks += 1;
  return `mark-${marks}`;
}

/** `<endpoint> <status> <result>` of the rows with a mark that a workspace sees. */
async function rowsOf(mark: string, tenant = shop): Promise<string[]> {
  const rows = await world.store.rows<{ line: string }>(
    `select endpoint || ' ' || http_status || ' ' || result as line from postback_log
     where workspace_id = $1 and params ->> 'adv1' = $2 order by id`,
    [tenant.id, mark],
  );
  return rows.map(({ line }) => line);
}

async function expectRows(mark: string, rows: readonly string[], tenant = shop): Promise<void> {
  await expect.poll(() => rowsOf(mark, tenant), SOON).toEqual(rows);
}

/** Sends a request with a mark, and first whatever that request needs. */
type Send = (mark: string) => Promise<Answer>;

const pb =
  (query: string, asking: Asking = {}, path = "/pb"): Send =>
  (mark) =>
    ask(`${path}?adv1=${mark}&${query}`, asking);

describe("each call has a row with its result (PB-063)", () => {
  const TAKEN: Readonly<Record<string, Send>> = {
    approved: async (mark) => await pb(await report())(mark),
    pending: async (mark) => await pb(await report("REVIEW"))(mark),
    rejected: async (mark) => await pb(`${await report()}&status=rejected`)(mark),
    duplicate: async (mark) => {
      const query = await report();
      await ask(`/pb?${query}`);
      return await pb(query)(mark);
    },
    updated: async (mark) => {
      const query = await report();
      await ask(`/pb?${query}`);
      return await pb(`${query}&status=rejected`)(mark);
    },
    test: async (mark) => await pb(`${await report()}&test=1`)(mark),
  };

  test.each(Object.keys(TAKEN))("%s (PB-063)", async (result) => {
    const mark = newMark();
    expect((await TAKEN[result]?.(mark))?.status).toBe(200);
    await expectRows(mark, [`pb 200 ${result}`]);
  });

  test("forwarded (PB-063)", async () => {
    const mark = newMark();
    const query = `token=${relaying.postbackToken}&click_id=${UNKNOWN_ID}`;
    expect((await pb(query, { host: RELAYING_HOST })(mark)).status).toBe(200);
    await expectRows(mark, ["pb 200 forwarded"], relaying);
  });

  test("approved, by a pixel, with the visitor's address as the workspace stores it (PB-063)", async () => {
    const mark = newMark();
    await ask(`/px?adv1=${mark}&click_id=${await newClick()}&ip=${GERMAN_IP}`);
    await expectRows(mark, ["px 200 approved"]);
    expect(
      await world.store.rows(
        "select host(ip) as ip, params ->> 'ip' as reported from postback_log where params ->> 'adv1' = $1",
        [mark],
      ),
    ).toEqual([{ ip: "91.64.10.0", reported: "91.64.10.0" }]);
  });
});

const token = "token=token-of-shop";
const METHODS: [method: string, path: string, endpoint: string][] = [
  ["PUT", "/pb", "pb"],
  ["PUT", "/px.gif", "px"],
  ["POST", "/px.js", "px.js"],
];
const json = (body: string): Asking => ({ method: "POST", headers: JSON_BODY, body });

describe("each refused call has a row with its refusal (PB-064)", () => {
  const REFUSED: [word: string, what: string, row: string, send: Send][] = [
    ["invalid_token", "unknown", "pb 401", pb(`token=nobody&click_id=${UNKNOWN_ID}`)],
    ["token_required", "none", "pb 401", pb(`click_id=${UNKNOWN_ID}`)],
    ["advertiser_inactive", "paused", "pb 401", pb(`token=${PAUSED_TOKEN}&txid=1`)],
    ["unknown_click", "postback", "pb 200", pb(`${token}&click_id=${UNKNOWN_ID}`)],
    ["unknown_click", "pixel", "px 200", pb(`click_id=${UNKNOWN_ID}`, {}, "/px")],
    ["unknown_conversion", "no such", "pb 200", pb(`${token}&conversion_id=${randomUUID()}`)],
    ["unknown_offer", "no such", "pb 200", pb(`${token}&offer_id=NONE&aff_id=${PARTNER}`)],
    ["coupon_error", "no such", "pb 200", pb(`${token}&coupon_code=NONE`)],
    ["error", "unknown partner", "pb 200", pb(`${token}&offer_id=SHOP&aff_id=NONE`)],
    ["malformed", "amount", "pb 400", pb(`${token}&txid=1&amount=-1`)],
    ["malformed", "query", "pb 400", pb(`${token}&txid=%zz`)],
    ["malformed", "query of a pixel", "px 200", pb("click_id=%zz", {}, "/px")],
    ["malformed", "body of JSON", "pb 400", pb(token, json("{"))],
    ["malformed", "body that is too large", "pb 413", pb(token, json("x".repeat(65_537)))],
    ["malformed", "body of a pixel", "px 200", pb(token, { body: "x" }, "/px.gif")],
    ...METHODS.map(([method, path, endpoint]): [string, string, string, Send] => [
      ...(["method_not_allowed", `${method} ${path}`, `${endpoint} 405`] as const),
      pb(token, { method }, path),
    ]),
  ];

  test.each(REFUSED)("%s: %s (PB-064)", async (word, _, row, send) => {
    const mark = newMark();
    await send(mark);
    await expectRows(mark, [`${row} ${word}`]);
  });

  test("ip_not_allowed (PB-064)", async () => {
    const query = await report("GUARDED");
    await ask(`/pb?${query}`);
    const click_id = query.split("click_id=")[1] ?? "";
    const mark = newMark();
    const sent = pb(`token=${GUARDED_TOKEN}&click_id=${click_id}&status=pending`);
    expect((await sent(mark)).status).toBe(403);
    await expectRows(mark, ["pb 403 ip_not_allowed"]);
  });

  test("malformed: the part of the body before the fault decides the owner of the row (PB-064)", async () => {
    const mark = newMark();
    const body = `{"token":"${relaying.postbackToken}","adv1":"${mark}","items":[]}`;
    await ask("/pb", json(body));
    await expectRows(mark, ["pb 400 malformed"], relaying);
  });

  test("unavailable: answered while no conversion processor runs, stored afterwards (PB-064)", async () => {
    const known = await newClick();
    const mark = newMark();
    await world.withoutProcessors(async () => {
      const target = `adv1=${mark}&${token}&click_id=${known}`;
      expect((await ask(`/pb?${target}`)).status).toBe(503);
      expect((await ask(`/px?${target}`)).status).toBe(200);
      expect((await ask("/lp", landing({ click_id: known }))).status).toBe(503);
    });
    // The pixel was kept and is recorded by now.
    await expect
      .poll(async () => (await rowsOf(mark)).toSorted(), SOON)
      .toEqual(["pb 503 unavailable", "px 200 approved", "px 200 unavailable"]);
    expect(await landingRows(known)).toEqual(["503 unavailable"]);
  });

  test("no workspace sees a call without an owner (PB-064)", async () => {
    const mark = newMark();
    await pb("token=nobody", { method: "PUT", host: "trk.unlisted.example" })(mark);
    const owners = "select workspace_id from postback_log where params ->> 'adv1' = $1";
    await expect
      .poll(() => world.store.rows(owners, [mark]), SOON)
      .toEqual([{ workspace_id: null }]);
  });
});

const landing = (body: unknown): Asking => ({ method: "POST", body: JSON.stringify(body) });

async function landingRows(id: string): Promise<string[]> {
  const rows = await world.store.rows<{ line: string }>(
    `select http_status || ' ' || result as line from postback_log
     where workspace_id = $1 and endpoint = 'lp' and (click_id = $2 or params ->> 'click_id' = $2) order by id`,
    [shop.id, id],
  );
  return rows.map(({ line }) => line);
}

describe("each call of /lp has a row with the source of its click (PB-063, LP-019)", () => {
  const adId = (kind: string) => async (): Promise<unknown> => {
    const value = `ad-${kind}-${newMark()}`;
    await newClick("SHOP", `?${kind}=${value}`);
    return { [kind]: value };
  };
  const SOURCES: [source: string, body: () => Promise<unknown>][] = [
    ["param", async () => ({ click_id: await newClick() })],
    ["gclid", adId("gclid")],
    ["gbraid", adId("gbraid")],
    ["wbraid", adId("wbraid")],
    ["organic", () => Promise.resolve({ organic: true, url: "https://shop.example/" })],
    ["direct", () => Promise.resolve({ offer: "SHOP", url: "https://shop.example/" })],
  ];

  // The processors were away in a test above, and a slow machine takes a while until they find clicks again.
  beforeAll(async () => {
    await until("landing pages are answered", async () => {
      const body = { click_id: await newClick() };
      return (await ask("/lp", landing(body))).status === 200;
    });
  });

  test.each(SOURCES)("%s (PB-063, LP-019)", async (source, body) => {
    const answer = await ask("/lp", landing(await body()));
    const { click_id, ...rest } = Found.parse(JSON.parse(answer.body));
    expect(rest).toEqual({ source });
    await expect.poll(() => landingRows(click_id), SOON).toEqual([`200 ${source}`]);
  });

  const REFUSED: [word: string, status: number, asking: Asking][] = [
    ["malformed", 400, { method: "POST", body: "x" }],
    ["malformed", 413, { method: "POST", body: "x".repeat(65_537) }],
    ["method_not_allowed", 405, { method: "PUT" }],
    ["unknown_offer", 400, landing({ offer: "NONE" })],
    ["error", 400, landing({ url: "https://shop.example/" })],
  ];
  test.each(REFUSED)("%s: %i of /lp (PB-064)", async (word, status, asking) => {
    expect((await ask(`/lp?email=${EMAIL}`, asking)).status).toBe(status);
    const rows = `select host(ip) as ip, params from postback_log
                  where workspace_id = $1 and endpoint = 'lp' and result = $2 and http_status = $3`;
    const params = word === "unknown_offer" ? { offer: "NONE" } : {};
    await expect
      .poll(() => world.store.rows(rows, [shop.id, word, status]), SOON)
      .toEqual([{ ip: "91.64.10.0", params }]);
  });
});

test("the log contains no token, e-mail or telephone number, however they were sent (G178, P31)", async () => {
  const mark = newMark();
  const persons = `email=${EMAIL}&em=${EMAIL}&phone=${encodeURIComponent(PHONE)}&Phone=${encodeURIComponent(PHONE)}`;
  const query = `${token}&${persons}&adv2=${encodeURIComponent(EMAIL)}`;
  await pb(query)(mark);
  await pb(query, { method: "PUT" })(mark);
  await pb(query, json("{"))(mark);
  await pb(`${query}&txid=%zz`)(mark);
  await expect.poll(async () => (await rowsOf(mark)).length, SOON).toBe(4);
  const shown = await world.store.rows(
    "select distinct params - 'txid' as params, token_owner from postback_log where params ->> 'adv1' = $1",
    [mark],
  );
  const masked = { token: "***", email: "***", em: "***", phone: "***", Phone: "***", adv2: "***" };
  expect(shown).toEqual([{ params: { adv1: mark, ...masked }, token_owner: "workspace" }]);
  for (const secret of [EMAIL, PHONE, PHONE.slice(1), "token-of-", "token-with-", PAUSED_TOKEN]) {
    const rows = await world.store.rows(
      "select id from postback_log where postback_log::text like $1",
      [`%${secret}%`],
    );
    expect(rows, secret).toEqual([]);
  }
});

test("a flood of refusals is counted and does not grow the log (G178)", async () => {
  const mark = newMark();
  const flood = 500;
  const sent = pb(`token=${relaying.postbackToken}`, { method: "DELETE" });
  for (let i = 0; i < flood; i += 20) {
    await Promise.all(Array.from({ length: 20 }, () => sent(mark)));
  }
  await expect.poll(async () => (await rowsOf(mark, relaying)).length, SOON).toBe(60);
  expect(await world.metric("ingress", "ingress_inbound_log_merged_total")).toBe(flood - 60);
});
