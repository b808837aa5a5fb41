import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "./chromium-program.ts";
import { LandingWorld } from "./landing-world.ts";
import { OFFER, TRACK } from "./shop-seed.ts";

const ID = "0123456789abcdef0123456789abcdef";
const OTHER_ID = "fedcba9876543210fedcba9876543210";
const KNOWN = `?click_id=${ID}`;
const program = findChromium();

describe.skipIf(program === undefined)("links of a page whose click is known", () => {
  let world: LandingWorld;
  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
  });
  afterEach(() => world.endVisits());
  afterAll(() => world.close());

  test.each([
    ["https://a.example/{click_id}", "", `https://a.example/${ID}`],
    ["https://a.example/?c=%7Bclick_id%7D&d={click_id}", "", `https://a.example/?c=${ID}&d=${ID}`],
    ["https://a.example/?c=%7bclick_id%7d", "", `https://a.example/?c=${ID}`],
    ["/buy?c={click_id}#top", "", `/buy?c=${ID}#top`],
    ["sms:123?body={click_id}", "", `sms:123?body=${ID}`],
    ["https://a.example/?click_id=1", "", "https://a.example/?click_id=1"],
    ["https://a.example/", "data-trk", `https://a.example/?click_id=${ID}`],
    [
      "https://a.example/?a=1&click_id=old&b=2",
      "data-trk",
      `https://a.example/?a=1&click_id=${ID}&b=2`,
    ],
    [
      "https://a.example/?click_id=1&a&click_id=2",
      "data-trk",
      `https://a.example/?click_id=${ID}&a`,
    ],
    ["https://a.example/?click%5Fid=old", "data-trk", `https://a.example/?click_id=${ID}`],
    [
      "https://a.example/p?a=b%20c+d&e=%2F#part?x=1",
      "data-trk",
      `https://a.example/p?a=b%20c+d&e=%2F&click_id=${ID}#part?x=1`,
    ],
    ["https://a.example/#part", 'data-trk="click_id"', `https://a.example/?click_id=${ID}#part`],
    ["https://a.example/?p=old&q=1", 'data-trk="p"', `https://a.example/?p=${ID}&q=1`],
    ["https://a.example/?pp=1", 'data-trk="p"', `https://a.example/?pp=1&p=${ID}`],
    ["https://a.example/", 'data-trk="a b"', `https://a.example/?a%20b=${ID}`],
    ["https://a.example/?", "data-trk", `https://a.example/?click_id=${ID}`],
    ["buy", "data-trk", `buy?click_id=${ID}`],
    ["//a.example/?x={click_id}", "data-trk", `//a.example/?x=${ID}&click_id=${ID}`],
    ["#part", "", "#part"],
    ["#part", "data-trk", `?click_id=${ID}#part`],
  ])("the link %s with %j becomes %s (SDK-022, SDK-023)", async (href, attribute, expected) => {
    const page = await world.visit({
      query: KNOWN,
      body: `<a id="l" href="${href.replaceAll("&", "&amp;")}" ${attribute}>x</a>`,
    });
    await page.knownClickId();
    await page.untilHref("#l", expected);
    await page.run('document.querySelector("#l").dispatchEvent(new MouseEvent("contextmenu"))');
    expect(await page.href("#l"), "a second event changes nothing").toBe(expected);
  });

  test.each([
    "javascript:void('{click_id}')",
    "JavaScript:void('{click_id}')",
    " java\nscript:void('{click_id}')",
    "mailto:a@b.example?subject={click_id}",
    "MAILTO:a@b.example",
    "tel:+123{click_id}",
  ])("the link %j is never changed (SDK-024)", async (href) => {
    const page = await world.visit({
      query: KNOWN,
      body: `<a id="l" data-trk href="${href}">x</a><a id="last" data-trk href="/ok">x</a>`,
    });
    await page.knownClickId();
    await page.untilHref("#last", `/ok?click_id=${ID}`);
    await page.page.click("#l", { button: "right" });
    expect(await page.href("#l")).toBe(href);
  });

  test("areas of a map are decorated like links, anchors without href are not (SDK-022, SDK-023)", async () => {
    const page = await world.visit({
      query: KNOWN,
      body: '<map><area id="a" data-trk href="/map"></map><a id="n" data-trk>x</a>',
    });
    await page.untilHref("#a", `/map?click_id=${ID}`);
    expect(await page.href("#n")).toBeNull();
  });

  const LATER = '<a id="l" data-trk="cid" href="/next?x={click_id}#end"><b>go</b></a>';
  const LATER_READY = `/next?x=${ID}&cid=${ID}#end`;

  test.each(["click", "Enter"])(
    "a link that the page adds later is decorated when it is followed by %s (SDK-022, SDK-023)",
    async (how) => {
      const page = await world.visit({ query: KNOWN, body: '<div id="app"></div>' });
      world.pages.put("/next", "<!doctype html><title>Next</title>");
      await page.run(`document.querySelector("#app").innerHTML = '${LATER}'`);
      expect(await page.href("#l")).toBe("/next?x={click_id}#end");
      if (how === "click") await page.page.click("#l b");
      else await page.page.press("#l", how);
      await page.page.waitForURL(`**${LATER_READY}`);
    },
  );

  test.each(["middle", "right"] as const)(
    "a link added later is decorated before the %s button opens or copies it (SDK-022, SDK-023)",
    async (button) => {
      const page = await world.visit({ query: KNOWN, body: '<div id="app"></div>' });
      world.pages.put("/next", "<!doctype html><title>Next</title>");
      await page.run(`document.querySelector("#app").innerHTML = '${LATER}'`);
      await page.page.click("#l b", { button });
      expect(await page.href("#l")).toBe(LATER_READY);
    },
  );

  test("a link that the page changes back is decorated again on the next click (SDK-022)", async () => {
    const page = await world.visit({ query: KNOWN, body: '<a id="l" href="#x{click_id}">x</a>' });
    await page.untilHref("#l", `#x${ID}`);
    await page.run('document.querySelector("#l").setAttribute("href", "#y{click_id}")');
    await page.page.click("#l");
    expect(await page.href("#l")).toBe(`#y${ID}`);
  });

  test("links in a shadow tree and in an SVG are decorated when they are followed (SDK-022, SDK-023)", async () => {
    const page = await world.visit({
      query: KNOWN,
      body: '<div id="host"></div><svg><a id="s" data-trk href="#s{click_id}"><text y="20">draw</text></a></svg>',
    });
    await page.run(
      `document.querySelector("#host").attachShadow({ mode: "open" }).innerHTML = '<a id="l" href="#x{click_id}"><i>go</i></a>'`,
    );
    await page.page.click("#l i");
    expect(await page.href("#l")).toBe(`#x${ID}`);
    await page.page.click("#s text", { button: "right" });
    expect(await page.href("#s")).toContain(`click_id=${ID}`);
  });

  test("a form whose fields are named like properties of nodes does not stop the decoration", async () => {
    const page = await world.visit({
      query: KNOWN,
      // Events of some browsers have no `composedPath`.
      before: "<script>delete Event.prototype.composedPath</script>",
      body: `<form><input name="parentNode"><input name="nodeName"><button type="button" id="b">x</button></form>
        <a id="l" href="#x{click_id}"><b>go</b></a>`,
    });
    await page.untilHref("#l", `#x${ID}`);
    await page.run(`document.querySelector("#b").click();
      document.querySelector("#l").href = "#y{click_id}"; document.querySelector("#l b").click()`);
    expect(await page.href("#l")).toBe(`#y${ID}`);
    expect(page.warnings).toEqual([]);
  });

  test("without a known click no link is changed (SDK-022)", async () => {
    const body = '<a id="l" data-trk href="#{click_id}">x</a>';
    const page = await world.visit({ body });
    expect(await page.clickId()).toBeNull();
    await page.page.click("#l");
    expect(await page.href("#l")).toBe("#{click_id}");
  });

  test("a second copy does nothing: one global, one call of /lp, one decoration (SDK-002)", async () => {
    const page = await world.visit({
      copies: 2,
      attributes: `data-offer="${OFFER}"`,
      body: '<a id="l" href="#{click_id}">x</a>',
    });
    const id = await page.knownClickId();
    await page.run("window.before = Tracker");
    await page.page.addScriptTag({ url: `${TRACK}/sdk.js?click_id=${OTHER_ID}` });
    expect(await page.page.evaluate("window.before === Tracker")).toBe(true);
    expect(await page.clickId()).toBe(id);
    expect(page.landings).toHaveLength(1);
    expect(await page.href("#l")).toBe(`#${id}`);
    const sale = await page.convert("{}");
    expect(sale.sent).toMatchObject({ click_id: id });
    expect(page.pixels).toHaveLength(1);
  });
});
