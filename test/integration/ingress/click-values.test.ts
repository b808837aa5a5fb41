import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PARAMETER_COLUMNS, TRAFFIC_SOURCES } from "../../samples/link-parameters.ts";
import { type Answer, clickIdOf, headerOf, lineOf } from "./click-answer.ts";
import { type Click, ClickPathsWorld, type Tenant } from "./click-paths-world.ts";

const MACROS = [
  ...["click_id", "sub1", "sub2", "sub3", "sub4", "sub5", "sub6", "sub7", "sub8", "sub9", "sub10"],
  ...["source_id", "offer_id", "offer_code", "affiliate_id", "affiliate_code", "gclid", "gbraid"],
  ...["wbraid", "msclkid", "fbclid", "campaignid", "adgroupid", "keyword", "country", "city"],
  ...["device", "os", "ip", "random", "timestamp"],
] as const;
const ALL = MACROS.map((macro) => `${macro}={${macro}}`).join("&");

let world: ClickPathsWorld;
let main: Tenant;
let shopId = 0;

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main", { default_fallback_url: `https://ws.example/?${ALL}` });
  shopId = await world.addOffer(main, "SHOP");
  await world.addOffer(main, "MACROS", {
    destination_url: `https://shop.example/{offer_code}/?${ALL}#{sub1}`,
  });
  await world.addOffer(main, "BACK", {
    status: "paused",
    fallback_url: `https://own.example/?${ALL}`,
  });
  await world.addOffer(main, "WSBACK", { status: "paused" });
  const other = "https://shop.example/{unknown}/{CLICK_ID}/{sub11}/{}/{sub1/%7Bsub1%7D?x={sub1}}";
  await world.addOffer(main, "OTHER", { destination_url: other });
  await world.addOffer(main, "LETTERS", {
    destination_url: "https://shop.example/größe?a=%C3%BC&b=c+d&s={sub1}",
  });
  await world.untilCurrent();
});
afterAll(() => world.close());

async function clickOf(query: string): Promise<Click> {
  return await world.clickOf(await world.ask(`/r/SHOP/PART01?${query}`), main);
}

describe("parameters and the columns that keep them (TRK-042, G134, G135)", () => {
  test.each(PARAMETER_COLUMNS)("%s from each of %j", async (column, names) => {
    const values = names.map((name) => `v a/l&${name}`);
    const clicks = await Promise.all(
      names.map(async (name, i) => await clickOf(`${name}=${encodeURIComponent(values[i] ?? "")}`)),
    );
    expect(clicks.map((click) => click[column])).toEqual(values);
  });

  test.each([
    "/r/SHOP/PART01?",
    "/click?oid=SHOP&aid=PART01&",
    "/s/LINK-PART01?",
    "/c/SHOP-PART01?url=https://shop.example/&",
  ])("on %s all of them together, and TRK-043 what has no column is extra", async (path) => {
    await world
      .addSmartLink(main, "LINK", {
        rules: [{ name: "r", conditions: {}, offers: [{ offer_id: shopId, weight: 1 }] }],
      })
      .catch(() => 0);
    await world.untilCurrent();
    const all = PARAMETER_COLUMNS.map(([column, [name = ""]], i): [string, string, string] => [
      column,
      name,
      `value ${i}`,
    ]);
    const query = all.map(([, name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    const answer = await world.ask(
      `${path}${query}&foo=bar&Sub1=upper&f%C3%BC=%E2%82%AC&empty=&constructor=x`,
    );
    const { click, extra } = await world.detailOf(answer, main);
    expect(click).toMatchObject(
      Object.fromEntries(all.map(([column, , value]) => [column, value])),
    );
    expect(extra).toEqual({ foo: "bar", Sub1: "upper", fü: "€", empty: "", constructor: "x" });
  });

  test("the first value counts, empty ones not; a space may be a plus", async () => {
    expect(await clickOf("sub1=&sub1=a+b&sub1=c&s2=x&s3=&sub3=y")).toMatchObject({
      sub1: "a b",
      sub2: "x",
      sub3: "y",
    });
  });

  test("tags that nobody replaced are no values", async () => {
    const click = await clickOf(
      "gclid={gclid}&campaignid=%7Bcampaignid%7D&sub1={sub}&kw={keyword:none}&src=a{b}",
    );
    expect(click).toMatchObject({
      gclid: "",
      ext_campaign_id: "",
      sub1: "",
      ext_keyword: "",
      source_id: "a{b}",
      traffic_source: "",
    });
  });

  test.each(TRAFFIC_SOURCES)("traffic_source of ?%s is %j", async (query, source) => {
    expect((await clickOf(query))["traffic_source"]).toBe(source);
  });

  test("values end at 255 characters, platform ids at 512", async () => {
    const click = await clickOf(
      `sub1=${"a".repeat(256)}&sub2=${"%F0%9F%98%80".repeat(200)}&gclid=${"g".repeat(513)}`,
    );
    expect([String(click["sub1"]).length, String(click["gclid"]).length]).toEqual([255, 512]);
    expect(click["sub2"]).toBe("\u{1f600}".repeat(127));
  });
});

describe("macros (TRK-002, TRK-048, TRK-050, G148)", () => {
  /** Of the destination: what stands behind each name. */
  const expandedIn = (answer: Answer): Map<string, string> => {
    const { search } = new URL(headerOf(answer, "location"));
    return new Map(
      search
        .slice(1)
        .split("&")
        .map((pair): [string, string] => {
          const equals = pair.indexOf("=");
          return [pair.slice(0, equals), pair.slice(equals + 1)];
        }),
    );
  };
  const SENT: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`sub${i + 1}`, `s ${i}&/?#=+é{click_id}`]),
    ),
    source_id: "src",
    gclid: "g",
    gbraid: "b",
    wbraid: "w",
    msclkid: "m",
    fbclid: "f",
    campaignid: "1",
    adgroupid: "2",
    keyword: "red shoes",
  };

  test.each([
    ["/r/MACROS/PART01", "MACROS"],
    ["/r/BACK/PART01", "BACK"],
    ["/r/WSBACK/PART01", "WSBACK"],
  ])("%s has the value of each, percent-encoded", async (path, code) => {
    const query = Object.entries(SENT)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join("&");
    const answer = await world.ask(`${path}?${query}`);
    const expanded = expandedIn(answer);
    const click = await world.clickOf(answer, main);
    for (const [name, value] of Object.entries(SENT))
      expect(expanded.get(name), name).toBe(encodeURIComponent(value));
    expect(Object.fromEntries(expanded)).toMatchObject({
      click_id: clickIdOf(answer),
      offer_id: String(click["offer_id"]),
      offer_code: code,
      affiliate_id: String(main.affiliateId),
      affiliate_code: "PART01",
      country: "DE",
      city: "Bamberg",
      device: "desktop",
      os: "Ubuntu",
      ip: "91.64.10.10",
      timestamp: String(Math.floor(Date.parse(String(click["ts"])) / 1_000)),
    });
    expect(expanded.get("random")).toMatch(/^\d+$/);
    expect([...expanded.keys()]).toEqual([...MACROS]);
    expect(click["destination"]).toBe(headerOf(answer, "location"));
  });

  test("those without a value are empty", async () => {
    const expanded = expandedIn(
      await world.ask("/r/MACROS/PART01", { ip: "10.1.2.3", userAgent: "" }),
    );
    const empty = [...expanded].filter(([, value]) => value === "").map(([name]) => name);
    const known = [
      "click_id",
      "offer_id",
      "offer_code",
      "affiliate_id",
      "affiliate_code",
      "device",
      "ip",
      "random",
      "timestamp",
    ];
    expect(empty).toEqual(MACROS.filter((macro) => !known.includes(macro)));
  });

  test("random is another number each time", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => world.ask("/r/MACROS/PART01")),
    );
    expect(new Set(answers.map((answer) => expandedIn(answer).get("random"))).size).toBeGreaterThan(
      1,
    );
  });

  test("whatever is no macro stays as it is", async () => {
    const answer = await world.ask("/r/OTHER/PART01?sub1=v");
    expect(lineOf(answer)).toBe(
      "302 https://shop.example/{unknown}/{CLICK_ID}/{sub11}/{}/{sub1/%7Bsub1%7D?x=v}",
    );
  });

  test("letters beyond ASCII leave percent-encoded, escapes and pluses as they are", async () => {
    const answer = await world.ask("/r/LETTERS/PART01?sub1=%C3%A9+%2B");
    expect(lineOf(answer)).toBe(
      "302 https://shop.example/gr%C3%B6%C3%9Fe?a=%C3%BC&b=c+d&s=%C3%A9%20%2B",
    );
  });
});
