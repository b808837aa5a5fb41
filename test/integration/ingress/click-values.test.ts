import { describe, expect, test } from "vitest";
import { PARAMETER_COLUMNS } from "../../samples/link-parameters.ts";
import { GOOGLEBOT, HEADLESS_BROWSERS, IPHONE } from "../../samples/user-agents.ts";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, clickIdOf, headerOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  type Click,
  ClickPathsWorld,
  GERMAN_IP,
} from "./click-paths-world.ts";

const MACROS = words(`
  click_id sub1 sub2 sub3 sub4 sub5 sub6 sub7 sub8 sub9 sub10 source_id offer_id offer_code
  affiliate_id affiliate_code gclid gbraid wbraid msclkid fbclid campaignid adgroupid keyword
  country city device os ip random timestamp
`);
const ALL = MACROS.map((macro) => `${macro}={${macro}}`).join("&");

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main");
const discreet = await world.addTenant("discreet", { ip_storage: "truncated" });
const offerId = await world.addOffer(main, "SHOP");
await world.addSmartLink(main, "LINK", {
  rules: [{ name: "r", conditions: {}, offers: [{ offer_id: offerId, weight: 1 }] }],
});
await world.addOffer(main, "MACROS", {
  destination_url: `https://shop.example/{offer_code}/?${ALL}#{sub1}`,
});
await world.addOffer(discreet, "QUIET", {
  destination_url: "https://shop.example/?ip={ip}",
  duplicate_click_seconds: 3_600,
});
await world.untilCurrent();

async function clickOf(asking: Asking): Promise<Click> {
  return await world.clickOf(await world.ask("/r/SHOP/PART01", asking), main);
}

test.each([
  "/r/SHOP/PART01?",
  "/click?oid=SHOP&aid=PART01&",
  "/s/LINK-PART01?",
  "/c/SHOP-PART01?url=https://shop.example/&",
])(
  "every parameter of %s is stored in its column, or as extra (TRK-042, TRK-043, G134)",
  async (path) => {
    const all = PARAMETER_COLUMNS.map(([column, [name = ""]], i): [string, string, string] => [
      column,
      name,
      `v a/l&${i}`,
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
  },
);

/** The query of the destination: the value of each name, as it was sent. */
function expandedIn(answer: Answer): Map<string, string> {
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
}

test("a destination has the value of every macro, percent-encoded (TRK-002, TRK-048, TRK-050, G148)", async () => {
  const sent: Readonly<Record<string, string>> = {
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
  const query = Object.entries(sent)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  const answer = await world.ask(`/r/MACROS/PART01?${query}`);
  const expanded = expandedIn(answer);
  const click = await world.clickOf(answer, main);
  for (const [name, value] of Object.entries(sent))
    expect(expanded.get(name), name).toBe(encodeURIComponent(value));
  expect(Object.fromEntries(expanded)).toMatchObject({
    click_id: clickIdOf(answer),
    offer_id: String(click["offer_id"]),
    offer_code: "MACROS",
    affiliate_id: String(main.affiliateId),
    affiliate_code: "PART01",
    country: "DE",
    city: "Bamberg",
    device: "desktop",
    os: "Ubuntu",
    ip: GERMAN_IP,
    timestamp: String(Math.floor(Date.parse(String(click["ts"])) / 1_000)),
  });
  expect([...expanded.keys()]).toEqual([...MACROS]);
  expect(click["destination"]).toBe(headerOf(answer, "location"));
  // Without a value a macro is empty; {random} is another number each time.
  const bare = expandedIn(await world.ask("/r/MACROS/PART01", { ip: "10.1.2.3", userAgent: "" }));
  for (const name of [...Object.keys(sent), "country", "city", "os"])
    expect(bare.get(name), name).toBe("");
  expect(bare.get("random")).toMatch(/^\d+$/);
  expect(bare.get("random")).not.toBe(expanded.get("random"));
});

describe("locations and networks, from the installed databases (G154)", () => {
  test.each<[ip: string, where: string, network: RegExp, isDatacenter: boolean]>([
    [GERMAN_IP, "DE, Bavaria, Bamberg, AS3209", /Vodafone/, false],
    [AMERICAN_IP, "US, California, Sunnyvale, AS7922", /Comcast/, false],
    ["81.2.69.142", "GB, England, London, AS20712", /Andrews/, false],
    ["202.214.194.147", "JP, Osaka, Osaka, AS2497", /Internet Initiative Japan/, false],
    ["177.32.0.1", "BR, Sao Paulo, Sao Paulo, AS28573", /Claro/, false],
    ["2003:e8:700:1::1", "DE, Hesse, Bickenbach, AS3320", /Telekom/, false],
    ["::ffff:91.64.10.10", "DE, Bavaria, Bamberg, AS3209", /Vodafone/, false],
    ["95.216.1.1", "FI, Uusimaa, Helsinki, AS24940", /Hetzner/, true],
    ["2a01:4f8:1::1", "DE, Bavaria, Nuremberg, AS24940", /Hetzner/, true],
    ["3.5.140.2", "KR, Incheon, Incheon, AS16509", /Amazon/, true],
    ["10.1.2.3", ", , , AS0", /^$/, false],
  ])("%s is in %s", async (ip, where, network, is_datacenter) => {
    const click = await clickOf({ ip });
    const { country, region, city, asn, as_name } = click;
    expect(`${[country, region, city].join(", ")}, AS${String(asn)}`).toBe(where);
    expect(as_name).toMatch(network);
    expect(click).toMatchObject({ is_datacenter, ip: ip.replace("::ffff:", "") });
  });
});

test("a click has the facts of its visitor's device, address and request (G07, G155)", async () => {
  const headers = {
    "accept-language": "de-AT,de;q=0.9,en;q=0.5",
    referer: "https://Blog.Example:8443/post?x=1#y",
  };
  const ip = `${AMERICAN_IP}, ${GERMAN_IP}`;
  const asking = { headers, host: "TRK.Example:443", ip, userAgent: IPHONE };
  expect(await clickOf(asking)).toMatchObject({
    ip: GERMAN_IP,
    // A proxy that is not ours forwarded it before.
    is_proxy: true,
    device_type: "mobile",
    os: "iOS",
    browser: "Safari",
    user_agent: IPHONE,
    is_bot: false,
    is_headless: false,
    missing_ua: false,
    language: "de-at",
    referrer: headers.referer,
    referrer_host: "blog.example",
    domain: "trk.example",
  });
});

test("a request without a proxy has its peer's address (G07)", async () => {
  expect(await clickOf({ ip: "" })).toMatchObject({ ip: "127.0.0.1", is_proxy: false });
});

test.each([
  [GOOGLEBOT, { is_bot: true, device_type: "bot", missing_ua: false, is_unique: false }],
  ["", { is_bot: true, device_type: "bot", missing_ua: true, is_unique: false }],
  [HEADLESS_BROWSERS[0] ?? "", { is_headless: true }],
])("%j is recognised, redirected and counted (G155)", async (userAgent, facts) => {
  const answer = await world.ask("/r/SHOP/PART01", { userAgent });
  expect(headerOf(answer, "location")).toBe("https://shop.example/");
  expect(await world.clickOf(answer, main)).toMatchObject({ ...facts, status: "redirect" });
});

describe("ip_storage truncated", () => {
  const clickOn = async (ip: string): Promise<[string, Click]> =>
    await world.follow("/r/QUIET/PART01", discreet, { ip });

  test.each([
    ["91.64.10.10", "91.64.10.0"],
    ["2003:e8:700:1::1", "2003:e8:700::"],
  ])("%s is stored and sent on as %s; its location is still known", async (ip, kept) => {
    const [line, click] = await clickOn(ip);
    expect(click).toMatchObject({ ip: kept, country: "DE" });
    expect(line).toBe(`302 https://shop.example/?ip=${encodeURIComponent(kept)}`);
    const [row] = await world.stored(`workspace_id = ${discreet.id} and ip = '${kept}'`);
    expect(JSON.stringify(row)).not.toContain(`"${ip}"`);
  });

  test("two visitors of one network are distinguished, and each is recognised again", async () => {
    const seen: unknown[] = [];
    for (const ip of ["84.56.10.20", "84.56.10.21", "84.56.10.20"]) {
      const [, { is_unique, status_reason, ip: kept }] = await clickOn(ip);
      seen.push([is_unique, status_reason, kept]);
    }
    expect(seen).toEqual([
      [true, "", "84.56.10.0"],
      [true, "", "84.56.10.0"],
      [false, "duplicate", "84.56.10.0"],
    ]);
  });
});
