import { beforeEach, describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { type DeliveryRow, DeliveryWorld } from "./delivery-world.ts";

const world = await forThisFile(DeliveryWorld.open());
world.startLane();
beforeEach(() => world.receiver.answer((response) => void response.end()));

/** Converts once and returns the request that a postback with these fields sent; `query` follows its path. */
async function send(
  query: string,
  options: {
    readonly fields?: Record<string, unknown>;
    readonly params?: Record<string, string>;
    readonly click?: Record<string, string>;
  } = {},
): Promise<{
  readonly id: string;
  readonly row: DeliveryRow;
  readonly target: string;
  readonly body: string;
  readonly type: string;
  readonly method: string;
}> {
  const offerId = await world.tracking.addOffer({ name: "Shoes & more" });
  await world.addPostback(offerId, {
    url: `${world.url(`o${offerId}`)}${query}`,
    ...options.fields,
  });
  const id = await world.convert(offerId, options.params, options.click);
  const [row] = await world.settled(id);
  const [request] = world.arrived(`o${offerId}`);
  if (row === undefined || request === undefined)
    throw new Error(`nothing arrived: ${row?.error ?? "no delivery"}`);
  const { target, body, method, headers } = request;
  return { id, row, target, body, method, type: headers["content-type"] ?? "" };
}

describe("macros (PBO-021, G125)", () => {
  test("are expanded, values encoded in the URL, unknown ones unchanged", async () => {
    const { id, row, target } = await send(
      "?c={click_id}&p={payout}&s={sub1}&st={status}&os={old_status}&op={old_payout}&d={payout_delta}&x={foo}&X={SUB1}&i={conversion_id}",
      { click: { sub1: "a b&c=1#é" } },
    );
    const { click_id } = await world.tracking.conversion(id);
    const path = target.slice(0, target.indexOf("?"));
    expect(target).toBe(
      `${path}?c=${String(click_id)}&p=10.0000&s=a%20b%26c%3D1%23%C3%A9&st=approved&os=&op=0.0000&d=10.0000&x={foo}&X={SUB1}&i=${id}`,
    );
    expect(row.url).toBe(`http://127.0.0.1:${world.receiver.port}${target}`);
  });

  test("have the values of the conversion", async () => {
    const { target } = await send(
      "?e={event}&ec={event_code}&on={offer_name}&ac={affiliate_code}&cur={currency}&sa={sale_amount}&s10={sub10}&src={source_id}&g={gclid}&co={country}&dev={device_type}&t={txid}&a1={adv1}&ip={ip}&r={reason}",
      {
        params: { amount: "12.5", txid: "T-1", adv1: "x y" },
        click: { sub10: "ten", source_id: "src", gclid: "G", country: "DE", device_type: "mobile" },
      },
    );
    expect(Object.fromEntries(new URL(target, "http://x").searchParams)).toEqual({
      e: "default",
      ec: "default",
      on: "Shoes & more",
      ac: "PARTNR",
      cur: "USD",
      sa: "12.5000",
      s10: "ten",
      src: "src",
      g: "G",
      co: "DE",
      dev: "mobile",
      t: "T-1",
      a1: "x y",
      ip: "203.0.113.7",
      r: "",
    });
  });

  test("a partner's own postback never has order id, address or the advertiser's values", async () => {
    const { target } = await send("?t={txid}&a={adv1}&ip={ip}&s={sub1}", {
      fields: { created_by_affiliate: true },
      params: { txid: "T-2", adv1: "secret" },
      click: { sub1: "mine" },
    });
    expect(target).toMatch(/\?t=\{txid\}&a=\{adv1\}&ip=\{ip\}&s=mine$/);
  });

  test("a reversal has the earlier status, payout and the difference (LIFE-035, T10)", async () => {
    const offerId = await world.tracking.addOffer({
      payout_type: "cps",
      payout: "10",
      revenue_type: "rps",
      revenue: "20",
    });
    await world.addPostback(offerId, {
      fire_on: "reversal",
      url: world.url(
        `o${offerId}?s={status}&os={old_status}&p={payout}&op={old_payout}&d={payout_delta}&r={reason}`,
      ),
    });
    const rejected = await world.convert(offerId, { amount: "100" });
    await world.setStatus(rejected, "rejected");
    await world.settled(rejected);
    const lowered = await world.convert(offerId, { amount: "100" });
    await world.tracking.report({ conversion_id: lowered, amount: "60" });
    await world.settled(lowered);
    expect(world.arrived(`o${offerId}`).map(({ target }) => target.split("?")[1])).toEqual([
      "s=rejected&os=approved&p=10.0000&op=10.0000&d=-10.0000&r=manual",
      "s=approved&os=approved&p=6.0000&op=10.0000&d=-4.0000&r=postback_reversal",
    ]);
  });
});

describe("method (PBO-022)", () => {
  test("GET sends no body", async () => {
    const { method, body } = await send("", { fields: { body: "c={click_id}" } });
    expect([method, body]).toEqual(["GET", ""]);
  });

  test.each([
    [
      "a form",
      "s={sub1}&p={payout}",
      "s=a%22%20%26b&p=10.0000",
      "application/x-www-form-urlencoded",
    ],
    [
      "JSON",
      `{"s": "{sub1}", "p": {payout}}`,
      `{"s": "a\\" &b", "p": 10.0000}`,
      "application/json",
    ],
    ["XML", "<s>{sub1}</s>", "<s>a&#34; &#38;b</s>", "application/xml"],
    ["text", "{sub1} {payout}", `a" &b 10.0000`, "text/plain; charset=utf-8"],
  ])("POST sends %s with its macros expanded", async (_name, template, body, type) => {
    const request = await send("", {
      fields: { method: "POST", body: template },
      click: { sub1: `a" &b` },
    });
    expect(request).toMatchObject({ method: "POST", body, type });
  });
});

test("each request has the id of its delivery", async () => {
  const { row, target } = await send("?x=1");
  const [request] = world.receiver.received.filter((one) => one.target === target);
  expect(request?.headers["x-tracker-delivery"]).toBe(row.id);
  expect(row).toMatchObject({
    status: "delivered",
    attempts: 1,
    response_status: 200,
    due_at: null,
  });
});
