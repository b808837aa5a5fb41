import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../system/until.ts";
import { findChromium } from "./chromium-program.ts";
import { LandingWorld } from "./landing-world.ts";
import { OFFER, OTHER_PARTNER, PARTNER, SHOP, TRACK } from "./shop-seed.ts";

const MADE_UP = "0123456789abcdef0123456789abcdef";
const program = findChromium();

describe.skipIf(program === undefined)("conversions from a page", () => {
  let world: LandingWorld;
  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
  });
  afterEach(() => world.endVisits());
  afterAll(() => world.close());

  test("a conversion of a partner's click is recorded, with method js (SDK-015, SDK-019, CNV-012, PX-014)", async () => {
    const id = await world.partnerClick();
    const attributes = `data-offer="${OFFER}"`;
    const page = await world.visit({ attributes, query: `?click_id=${id}` });
    const sale = await page.convert('{txid: "js-1", amount: 49.9, adv1: "a b&c=d", flag: true}');
    expect(sale.outcome).toBe("approved");
    const { r, ...rest } = sale.sent;
    expect(r).toMatch(/^[0-9a-z]{8,}$/);
    expect(rest).toEqual({
      click_id: id,
      js: "1",
      txid: "js-1",
      amount: "49.9",
      adv1: "a b&c=d",
      flag: "true",
    });
    expect(await world.conversion("js-1")).toMatchObject({
      click_id: id,
      method: "js",
      status: "approved",
      sale_amount: "49.9000",
    });
  });

  test("a pixel that will be refused is an error of the page, too; a shop's floats are not (SDK-020, G219)", async () => {
    const page = await world.visit({ query: `?click_id=${await world.partnerClick()}` });
    for (const [txid, amount] of [
      ["float-1", "1.1 + 2.2"],
      ["float-2", "0.1 + 0.2 - 0.3"],
      ["float-3", '"49."'],
    ] as const) {
      const { outcome } = await page.convert(`{txid: "${txid}", amount: ${amount}}`);
      expect([txid, outcome.startsWith("error"), await page.lastError()]).toEqual([
        txid,
        false,
        null,
      ]);
    }
    for (const [fault, params] of [
      ["amount=49,90", '{amount: "49,90"}'],
      ["revenue=NaN", "{revenue: 0 / 0}"],
      ["status=ok", '{status: "ok"}'],
      ["currency=€", '{currency: "\u20ac"}'],
      ["conversion_id=01a1fc65", '{conversion_id: "01a1fc65-173e-7eb1-b69e-769fbe5c2c41"}'],
    ] as const) {
      const { outcome } = await page.convert(params);
      expect(outcome, params).toMatch(/^error: /);
      expect(await page.lastError()).toContain(`conversion will be refused: ${fault}`);
    }
  });

  test("the first click is sent with the conversion if it is another one (SDK-014, SDK-013, G112)", async () => {
    const first = await world.partnerClick(PARTNER);
    const second = await world.partnerClick(OTHER_PARTNER);
    const early = await world.visit({ query: `?click_id=${first}` });
    const alone = await early.convert('{txid: "first-1"}');
    expect(alone.sent).not.toHaveProperty("first_click_id");
    const late = await world.visitAgain({ query: `?click_id=${second}` });
    const both = await late.convert(`{txid: "first-2", first_click_id: "${MADE_UP}"}`);
    expect(both.sent).toMatchObject({ click_id: second, first_click_id: first });
    expect(both.outcome).toBe("approved");
    expect(await world.conversion("first-2")).toMatchObject({ click_id: second });
    // A third click replaces the last one but never the first.
    const third = await world.visitAgain({ query: `?click_id=${await world.partnerClick()}` });
    expect((await third.convert("{}")).sent).toMatchObject({ first_click_id: first });
  });

  test("no offer is sent with a click, even if the page names one (SDK-016, T47)", async () => {
    const id = await world.partnerClick();
    const page = await world.visit({
      attributes: `data-offer="${OFFER}"`,
      query: `?click_id=${id}`,
    });
    const sale = await page.convert('{txid: "offer-1", offer: "DEMOSALE", offer_id: "DEMOSALE"}');
    expect(Object.keys(sale.sent).toSorted()).toEqual(["click_id", "js", "r", "txid"]);
    expect(sale.outcome).toBe("approved");
  });

  test.each([
    ["{}", { offer: OFFER, aff: PARTNER }],
    ['{aff: "DEMOBOB"}', { offer: OFFER, aff: OTHER_PARTNER }],
    ['{aff_id: "DEMOBOB"}', { offer: OFFER, aff_id: OTHER_PARTNER }],
    ["{aff: null, offer: undefined}", { offer: OFFER, aff: PARTNER }],
    ['{offer: "DEMOTRIAL"}', { offer: "DEMOTRIAL", aff: PARTNER }],
    ['{offer_id: "DEMOTRIAL"}', { offer_id: "DEMOTRIAL", aff: PARTNER }],
  ])(
    "without a click Tracker.conversion(%s) names the offer and the partner (SDK-017)",
    async (params, expected) => {
      const page = await world.visit({
        attributes: `data-offer="${OFFER}" data-aff="${PARTNER}"`,
        prepare: (tab) => tab.route("**/lp", (route) => route.abort()),
      });
      expect(await page.clickId()).toBeNull();
      const sale = await page.convert(params);
      const { r, js, ...rest } = sale.sent;
      expect([typeof r, js]).toEqual(["string", "1"]);
      expect(rest).toEqual(expected);
      expect(sale.outcome).toBe("approved");
    },
  );

  test("objects, functions and the parameters click_id, token and js are not sent (SDK-018)", async () => {
    const id = await world.partnerClick();
    const page = await world.visit({ query: `?click_id=${id}` });
    const sale = await page.convert(
      `{txid: "skip-1", click_id: "${MADE_UP}", token: "secret", js: 7, r: "mine", o: {a: 1}, l: [1], n: null, u: undefined,
        f: function () {}, s: Symbol("x"), d: new Date(), "a b": "ü", zero: 0, no: false, empty: "", half: "\\ud800"}`,
    );
    const { r, ...rest } = sale.sent;
    expect(r).not.toBe("mine");
    expect(rest).toEqual({
      click_id: id,
      js: "1",
      txid: "skip-1",
      "a b": "ü",
      zero: "0",
      no: "false",
      empty: "",
      half: "\ufffd",
    });
    expect(sale.pairs).toBe(Object.keys(sale.sent).length);
    expect(sale.outcome).toBe("approved");
  });

  test.each(["", "null", "'text'", "7"])(
    "Tracker.conversion(%s) sends a conversion without parameters (SDK-015)",
    async (params) => {
      const id = await world.partnerClick();
      const page = await world.visit({ query: `?click_id=${id}` });
      const sale = await page.convert(params);
      expect(Object.keys(sale.sent).toSorted()).toEqual(["click_id", "js", "r"]);
      expect(sale.outcome).toBe("approved");
    },
  );

  test("every request has a different r (SDK-025)", async () => {
    const page = await world.visit({ query: `?click_id=${await world.partnerClick()}` });
    const times = 20;
    await page.run(`for (var i = 0; i < ${times}; i += 1) Tracker.conversion({txid: "r"})`);
    await until("all pixels are sent", () => page.pixels.length === times, { pollMs: 20 });
    const values = page.pixels.map((pairs) => pairs.find(([name]) => name === "r")?.[1]);
    expect(new Set(values).size).toBe(times);
  });

  test("calls made before the script runs are replayed in order once the click is known (SDK-021, G164)", async () => {
    const page = await world.visit({
      attributes: `data-offer="${OFFER}" data-aff="${PARTNER}" async`,
      before: `<script>
        window.Tracker = window.Tracker || [];
        window.calls = [];
        Tracker.push(function (id) { calls.push(id); });
        Tracker.push(["conversion", {txid: "queued-1"}], ["conversion", [{txid: "queued-2"}]]);
        Tracker.push(["nothing"], ["toString"], null, 7, "text");
        Tracker.push(function () { calls.push("last"); });
      </script>`,
    });
    await page.page.waitForFunction("window.calls.length === 2");
    const id = await page.knownClickId();
    expect(await page.page.evaluate("window.calls")).toEqual([id, "last"]);
    for (const txid of ["queued-1", "queued-2"]) {
      expect(await world.conversion(txid)).toMatchObject({ click_id: id, method: "js" });
    }
    expect(await page.lastError()).toBeNull();
  });

  test("after loading, push works like the methods, and a callback may get null (SDK-021)", async () => {
    const page = await world.visit();
    expect(
      await page.page.evaluate("new Promise(function (done) { Tracker.push(done) })"),
    ).toBeNull();
    const known = await world.visitAgain({ query: `?click_id=${await world.partnerClick()}` });
    await known.run('Tracker.push(["conversion", {txid: "pushed-1"}])');
    expect(await world.conversion("pushed-1")).toMatchObject({ method: "js" });
  });

  test("a conversion that still waits for its click is sent when the visitor leaves (SDK-015)", async () => {
    const page = await world.visit({
      attributes: `data-offer="${OFFER}" data-aff="${PARTNER}"`,
      // /lp is never answered.
      prepare: (tab) => tab.route("**/lp", () => undefined),
    });
    await page.run('Tracker.conversion({txid: "left-1"})');
    expect(page.pixels).toEqual([]);
    world.pages.put("/elsewhere", "<!doctype html><title>Elsewhere</title>");
    await page.page.goto(`${SHOP}/elsewhere`);
    expect(await world.conversion("left-1")).toMatchObject({ method: "js" });
  });

  test("/px.js reports the same way, with the click of the shop's own cookie (PX-012, SDK-019)", async () => {
    const id = await world.partnerClick();
    const page = await world.visit({ query: `?click_id=${id}` });
    await page.knownClickId();
    await page.page.addScriptTag({ url: `${TRACK}/px.js?txid=pxjs-1` });
    expect(await world.conversion("pxjs-1")).toMatchObject({ click_id: id, method: "js" });
  });
});
