import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { type Answer, clickIdOf, headerOf } from "./click-answer.ts";
import { type Asking, ClickPathsWorld, PARTNER } from "./click-paths-world.ts";

const POSTBACK_PATHS = ["/pb", "/postback", "/conversion"] as const;
const PIXEL_PATHS = ["/px", "/px.gif"] as const;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const FORM = "application/x-www-form-urlencoded";
const BOUNDARY = "-a-boundary-";
const BODY_BYTES_MAX = 65_536;

const Stored = z.object({
  data: z.object({
    id: z.string(),
    click_id: z.string(),
    event_code: z.string(),
    status: z.string(),
    method: z.string(),
    sale_amount: z.string(),
    adv_txid: z.string(),
    params: z.record(z.string(), z.string()),
  }),
});
type Stored = z.infer<typeof Stored>["data"];

const world = await forThisFile(ClickPathsWorld.open());
const shop = await world.addTenant("shop");
const offerId = await world.addOffer(shop, "SHOP");
await world.store.addEvent(offerId, {
  code: "sale",
  payout_type: "cps",
  payout: "10",
  revenue_type: "rps",
  revenue: "20",
});
await world.addOffer(shop, "PENDING", { default_status: "pending" });
await world.addOffer(shop, "HELD", { hold_days: "1" });
await world.addOffer(shop, "SERVERS", { conversion_method: "s2s" });
await world.untilCurrent();

async function newClick(offer = "SHOP"): Promise<string> {
  const id = clickIdOf(await world.ask(`/r/${offer}/${PARTNER}`));
  expect(id).not.toBe("");
  return id;
}

function conversionIdOf({ status, body }: Answer): string {
  const accepted = { ok: z.literal(true), conversion_id: z.string().regex(UUID) };
  const shape = z.strictObject({ ...accepted, status: z.literal("approved") });
  expect([status, body]).toEqual([200, expect.any(String)]);
  return shape.parse(JSON.parse(body)).conversion_id;
}

async function stored(id: string): Promise<Stored> {
  return Stored.parse(await world.rest(`/conversions/${id}`, shop.adminKey)).data;
}

async function conversionsStored(): Promise<number> {
  const [row] = await world.store.rows<{ count: string }>("select count(*) from conversion");
  return Number(row?.count);
}

function multipart(params: Readonly<Record<string, string>>): string {
  const parts = Object.entries(params).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join("")}--${BOUNDARY}--\r\n`;
}

/** A way to send parameters: the query behind the path, and the rest of the request. */
type Way = (params: Readonly<Record<string, string>>) => [query: string, asking: Asking];

const queryOf = (params: Readonly<Record<string, string>>): string =>
  new URLSearchParams(params).toString();
const posted = (contentType: string, body: string): Asking => ({
  method: "POST",
  body,
  headers: { "content-type": contentType },
});

const WAYS: Readonly<Record<string, Way>> = {
  "GET with a query": (params) => [`?${queryOf(params)}`, {}],
  "POST with a query": (params) => [`?${queryOf(params)}`, { method: "POST" }],
  "POST of a form": (params) => ["", posted(FORM, queryOf(params))],
  "POST of JSON": (params) => [
    "",
    posted("application/json", JSON.stringify({ ...params, amount: Number(params["amount"]) })),
  ],
  "POST of multipart": (params) => [
    "",
    posted(`multipart/form-data; boundary=${BOUNDARY}`, multipart(params)),
  ],
};

test("HEAD records nothing on /pb and /px (PB-052, G222)", async () => {
  const click_id = await newClick();
  const before = await conversionsStored();
  for (const path of POSTBACK_PATHS) {
    const query = `token=${shop.postbackToken}&click_id=${click_id}`;
    const answer = await world.ask(`${path}?${query}`, { method: "HEAD" });
    expect([answer.status, answer.body, headerOf(answer, "allow")]).toEqual([405, "", "GET, POST"]);
  }
  for (const path of PIXEL_PATHS) {
    const answer = await world.ask(`${path}?click_id=${click_id}`, { method: "HEAD" });
    expect([answer.status, answer.body, headerOf(answer, "content-type")]).toEqual([
      200,
      "",
      "image/gif",
    ]);
    expect(headerOf(answer, "x-tracker-conversion")).toBe("error: HEAD records nothing");
  }
  expect(await conversionsStored()).toBe(before);
});

test("JSON without its type, with more in it than is read, is a report (PB-003, G218, G223)", async () => {
  for (const [index, type] of ["text/plain", "", FORM].entries()) {
    const click_id = await newClick();
    const body = `{"token":"${shop.postbackToken}","click_id":"${click_id}","event":"sale","txid":730000000000000000${index},"amount":10.50,"items":[{"sku":"a"}]}`;
    const id = conversionIdOf(await world.ask("/pb?junk=50%", posted(type, body)));
    expect(await stored(id)).toMatchObject({
      click_id,
      adv_txid: `730000000000000000${index}`,
      sale_amount: "10.5000",
    });
  }
});

test("a currency without a rate is 503 with Retry-After, and nothing is recorded (PB-054, G221)", async () => {
  const query = `token=${shop.postbackToken}&click_id=${await newClick()}&amount=1`;
  const before = await conversionsStored();
  const answer = await world.ask(`/pb?${query}&currency=GBP`);
  expect([answer.status, headerOf(answer, "retry-after")]).toEqual([503, "600"]);
  expect(JSON.parse(answer.body)).toEqual({
    ok: false,
    error: "temporarily unavailable",
    details: { reason: "no exchange rate for GBP" },
  });
  expect(await conversionsStored()).toBe(before);
});

describe("one endpoint, three names, five ways to send (PB-001, PB-002, PB-003, PB-059, PB-060)", () => {
  const ways = Object.entries(WAYS).map(([way, sent]) => ({ way, sent }));
  const cases = POSTBACK_PATHS.flatMap((path) =>
    (path === "/pb" ? ways : ways.slice(0, 1)).map((way) => ({ path, ...way })),
  );

  test.each(cases)("$path, $way", async ({ path, way, sent }) => {
    const click_id = await newClick();
    const txid = `order of ${path}, ${way}`;
    const [query, asking] = sent({
      token: shop.postbackToken,
      click_id,
      txid,
      event: "sale",
      amount: "12.5",
      adv1: "ä b&c=d",
    });
    const id = conversionIdOf(await world.ask(`${path}${query}`, asking));
    expect(await stored(id)).toMatchObject({
      id,
      click_id,
      adv_txid: txid,
      event_code: "sale",
      status: "approved",
      method: "s2s",
      sale_amount: "12.5000",
      params: { adv1: "ä b&c=d" },
    });
  });

  test("query and body are read together; the body wins over the query (G119)", async () => {
    const click_id = await newClick();
    const body = `click_id=${click_id}&adv1=body`;
    const target = `/pb?token=${shop.postbackToken}&adv1=query&adv2=query`;
    const id = conversionIdOf(await world.ask(target, posted(FORM, body)));
    expect((await stored(id)).params).toEqual({ adv1: "body", adv2: "query" });
  });

  test("a report by one name is updated by another name (PB-027)", async () => {
    const report = `token=${shop.postbackToken}&click_id=${await newClick()}`;
    const id = conversionIdOf(await world.ask(`/pb?${report}`));
    const changed = await world.ask(`/conversion?${report}&status=rejected`);
    expect(JSON.parse(changed.body)).toMatchObject({ conversion_id: id, updated: true });
    expect((await stored(id)).status).toBe("rejected");
  });
});

describe("requests that are no report", () => {
  test("a multipart body without its announced boundary is 400 and records nothing (PB-050, #21)", async () => {
    const click_id = await newClick();
    const params = { token: shop.postbackToken, click_id, event: "sale", amount: "1" };
    const whole = multipart(params);
    const type = "multipart/form-data";
    const before = await conversionsStored();
    // The query alone would make a conversion: the body is checked before it.
    const answer = await world.ask(`/pb?${queryOf(params)}`, posted(type, whole));
    expect([answer.status, answer.body]).toEqual([
      400,
      '{"ok":false,"error":"malformed multipart body"}',
    ]);
    expect(await conversionsStored()).toBe(before);
    const quoted = `${type}; boundary="${BOUNDARY}"; charset=utf-8`;
    conversionIdOf(await world.ask("/pb", posted(quoted, whole)));
  });

  test.each(
    POSTBACK_PATHS.flatMap((path) => ["PUT", "DELETE", "PATCH", "OPTIONS"].map((m) => [m, path])),
  )("%s %s is 405 and records nothing (PB-052)", async (method = "", path = "") => {
    const click_id = await newClick();
    const before = await conversionsStored();
    const target = `${path}?token=${shop.postbackToken}&click_id=${click_id}`;
    const answer = await world.ask(target, { method });
    expect([answer.status, answer.body]).toEqual([
      405,
      '{"ok":false,"error":"method not allowed"}',
    ]);
    expect(headerOf(answer, "allow")).toBe("GET, POST");
    expect(headerOf(answer, "content-type")).toBe("application/json; charset=utf-8");
    expect(await conversionsStored()).toBe(before);
  });

  test.each(POSTBACK_PATHS)(
    "%s takes a body of 64 KiB, and not one byte more (PB-053)",
    async (path) => {
      const report = async (): Promise<string> =>
        `token=${shop.postbackToken}&click_id=${await newClick()}&note=`;
      const [fits, over] = [await report(), await report()];
      const before = await conversionsStored();
      const send = async (body: string, bytes: number): Promise<Answer> =>
        await world.ask(path, posted(FORM, body.padEnd(bytes, "x")));
      for (const bytes of [BODY_BYTES_MAX + 1, 2 * BODY_BYTES_MAX]) {
        const refused = await send(over, bytes);
        const error = '{"ok":false,"error":"request body too large"}';
        expect([refused.status, refused.body]).toEqual([413, error]);
      }
      expect(await conversionsStored()).toBe(before);
      conversionIdOf(await send(fits, BODY_BYTES_MAX));
      expect(await conversionsStored()).toBe(before + 1);
    },
  );
});

/** Status, content type, whether the body is a GIF, and the reported outcome. */
function pixelOf(answer: Answer): unknown[] {
  const isGif = answer.body.startsWith("GIF89a");
  return [
    answer.status,
    headerOf(answer, "content-type"),
    isGif,
    headerOf(answer, "x-tracker-conversion"),
  ];
}

describe.each(PIXEL_PATHS)("the pixel as %s (PX-002)", (path) => {
  const UNKNOWN = "0".repeat(32);

  test("records, and answers an image of one pixel with the status (PX-001)", async () => {
    const click_id = await newClick();
    const answer = await world.ask(`${path}?click_id=${click_id}&event=sale&amount=50`);
    expect(pixelOf(answer)).toEqual([200, "image/gif", true, "approved"]);
    const bytes = Buffer.from(answer.body, "latin1");
    expect([bytes.readUInt16LE(6), bytes.readUInt16LE(8)]).toEqual([1, 1]);
    const [row] = await world.store.rows<{ id: string }>(
      "select id from conversion where click_id = $1",
      [click_id],
    );
    expect(await stored(row?.id ?? "")).toMatchObject({
      click_id,
      event_code: "sale",
      status: "approved",
      method: "pixel",
      sale_amount: "50.0000",
    });
  });

  test("the answer is always an image that may not be cached (PX-013)", async () => {
    const click = await newClick();
    const outcomes: readonly (readonly [query: string, outcome: string])[] = [
      [`click_id=${click}`, "approved"],
      [`click_id=${click}`, "rejected; duplicate"],
      [`click_id=${await newClick("PENDING")}`, "pending"],
      [`click_id=${await newClick("HELD")}`, "pending; hold"],
      [`click_id=${UNKNOWN}`, "error: unknown click_id"],
      [`click_id=${await newClick("SERVERS")}`, "error: offer does not accept pixel conversions"],
      ["click_id=short", "error: invalid click_id (expected 32 hex characters)"],
      ["", "error: click_id required"],
      ["click_id=%zz", "error: malformed query"],
    ];
    for (const [query, outcome] of outcomes) {
      const answer = await world.ask(`${path}?${query}`);
      expect(pixelOf(answer)).toEqual([200, "image/gif", true, outcome]);
      expect(headerOf(answer, "cache-control")).toBe("no-store");
      for (const name of ["etag", "last-modified", "expires"])
        expect(headerOf(answer, name)).toBe("");
    }
  });

  test("without a click, header and log say that a cookie of another site needs https (#17, PX-007)", async () => {
    const bare = await world.ask(path);
    expect(headerOf(bare, "x-tracker-conversion")).toBe("error: click_id required");
    expect(headerOf(bare, "x-tracker-hint")).toMatch(/no cookie trk_cid\..* only over https/);
    const named = await world.ask(`${path}?offer=SHOP`);
    expect(headerOf(named, "x-tracker-conversion")).toMatch(/^error: click_id required: .*https/);
    expect(headerOf(named, "x-tracker-hint")).toBe("");
    const good = await world.ask(`${path}?click_id=${await newClick()}`);
    expect(headerOf(good, "x-tracker-hint")).toBe("");
    const messages = async (): Promise<boolean> => {
      const { rows } = await world.store.pool.query<{ message: string }>({
        text: "select message from postback_log where endpoint = 'px' and message ~ '^click_id required: .*https'",
      });
      return rows.length >= 2;
    };
    await until("both are logged with the reason", messages);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])(
    "%s is 405 and records nothing (PX-015, G196)",
    async (method) => {
      const click_id = await newClick();
      const before = await conversionsStored();
      const query = `click_id=${click_id}`;
      const bodies = method === "POST" ? ["", query] : [""];
      for (const body of bodies) {
        const headers = body === "" ? {} : { "content-type": FORM };
        const answer = await world.ask(`${path}?${query}`, { method, body, headers });
        expect(answer.status).toBe(405);
        expect(headerOf(answer, "allow")).toBe("GET, HEAD");
        expect(headerOf(answer, "cache-control")).toBe("no-store");
      }
      expect(await conversionsStored()).toBe(before);
      // The click can still convert: nothing was recorded without being counted.
      expect(pixelOf(await world.ask(`${path}?${query}`))[3]).toBe("approved");
    },
  );
});

describe("the iframe pixel /px.html (PBO-032)", () => {
  const outcomeOf = async (query: string): Promise<(string | number)[]> => {
    const answer = await world.ask(`/px.html?${query}`);
    expect(headerOf(answer, "cache-control")).toBe("no-store");
    expect(headerOf(answer, "content-security-policy")).toBe("sandbox allow-scripts");
    const type = headerOf(answer, "content-type");
    return [answer.status, type, headerOf(answer, "x-tracker-conversion")];
  };

  test("takes what the others take, and always answers a page with the outcome (PX-003, PX-005)", async () => {
    const click = await newClick();
    const type = "text/html; charset=utf-8";
    expect(await outcomeOf(`click_id=${click}`)).toEqual([200, type, "approved"]);
    expect(await outcomeOf(`click_id=${click}`)).toEqual([200, type, "rejected; duplicate"]);
    expect(await outcomeOf("")).toEqual([200, type, "error: click_id required"]);
    expect(await outcomeOf("click_id=%zz")).toEqual([200, type, "error: malformed query"]);
  });

  test.each(["HEAD", "POST", "PUT", "OPTIONS"])(
    "%s is 405 and records nothing (PX-015)",
    async (method) => {
      const query = `click_id=${await newClick()}`;
      const before = await conversionsStored();
      const answer = await world.ask(`/px.html?${query}`, { method });
      expect([answer.status, headerOf(answer, "allow")]).toEqual([405, "GET"]);
      expect(await conversionsStored()).toBe(before);
    },
  );
});

test("the header Idempotency-Key reaches /pb, and an invalid key is refused (#4, G203, G208)", async () => {
  const query = `token=${shop.postbackToken}&click_id=${await newClick()}&event=sale&amount=3`;
  const send = async (key: string): Promise<Answer> =>
    await world.ask(`/pb?${query}`, { headers: { "idempotency-key": key } });
  const first = await send("order-77");
  const again = await send("order-77");
  expect([again.status, again.body]).toEqual([first.status, first.body]);
  expect(first.body).not.toContain("duplicate");
  const inBody = await world.ask("/pb", {
    method: "POST",
    body: `${query}&idempotency_key=order-77`,
    headers: { "content-type": FORM },
  });
  expect(inBody.body).toBe(first.body);
  for (const key of ["a b", "k".repeat(65)]) expect((await send(key)).status).toBe(400);
});
