import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BOTS, DEVICES, HEADLESS_BROWSERS } from "../../samples/user-agents.ts";
import { headerOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  type Click,
  ClickPathsWorld,
  GERMAN_IP,
  type Tenant,
} from "./click-paths-world.ts";

let world: ClickPathsWorld;
let main: Tenant;
let discreet: Tenant;

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main");
  discreet = await world.addTenant("discreet", { ip_storage: "truncated" });
  await world.addOffer(main, "SHOP");
  const destination_url = "https://shop.example/?ip={ip}";
  await world.addOffer(discreet, "QUIET", { destination_url, duplicate_click_seconds: 3_600 });
  await world.addOffer(main, "LOUD", { destination_url });
  await world.untilCurrent();
});
afterAll(() => world.close());

async function clickOf(asking: Asking): Promise<Click> {
  return await world.clickOf(await world.ask("/r/SHOP/PART01", asking), main);
}

describe("places, by the databases of the install (G154)", () => {
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

describe("devices, by real user agents (G155)", () => {
  test.each(DEVICES)("%s is a %s with %s and %s", async (userAgent, device_type, os, browser) => {
    expect(await clickOf({ userAgent })).toMatchObject({
      device_type,
      os,
      browser,
      user_agent: userAgent,
      is_bot: false,
      is_headless: false,
      missing_ua: false,
    });
  });

  test.each(BOTS)(
    "%j is a bot, which is redirected and counted all the same",
    async (userAgent) => {
      const missing_ua = userAgent === "";
      const answer = await world.ask("/r/SHOP/PART01", { userAgent });
      expect(headerOf(answer, "location")).toBe("https://shop.example/");
      expect(await world.clickOf(answer, main)).toMatchObject({
        is_bot: true,
        device_type: "bot",
        missing_ua,
        is_unique: false,
        status: "redirect",
      });
    },
  );

  test.each(HEADLESS_BROWSERS)("%s is headless", async (userAgent) => {
    expect(await clickOf({ userAgent })).toMatchObject({ is_headless: true, status: "redirect" });
  });
});

describe("whom a request is from, and whether it says that it came through a proxy (G07)", () => {
  test.each<[string, Asking, string, boolean]>([
    ["nobody forwarded it", { ip: "" }, "127.0.0.1", false],
    ["our proxy did", {}, GERMAN_IP, false],
    ["somebody else's did before", { ip: `${AMERICAN_IP}, ${GERMAN_IP}` }, GERMAN_IP, true],
    ["a chain of our own", { ip: `${GERMAN_IP}, 127.0.0.1` }, GERMAN_IP, false],
    ["with a port", { ip: `${GERMAN_IP}:4711` }, GERMAN_IP, false],
    ["a proxy that names itself", { headers: { via: "1.1 squid" } }, GERMAN_IP, true],
  ])("%s", async (_why, asking, ip, is_proxy) => {
    expect(await clickOf(asking)).toMatchObject({ ip, is_proxy });
  });

  test("language, referrer and host", async () => {
    const headers = {
      "accept-language": "de-AT,de;q=0.9,en;q=0.5",
      referer: "https://Blog.Example:8443/post?x=1#y",
    };
    expect(await clickOf({ headers, host: "TRK.Example:443" })).toMatchObject({
      language: "de-at",
      referrer: headers.referer,
      referrer_host: "blog.example",
      domain: "trk.example",
    });
  });
});

describe("ip_storage truncated", () => {
  const clickOn = async (ip: string): Promise<[string, Click]> =>
    await world.follow("/r/QUIET/PART01", discreet, { ip });

  test.each([
    ["91.64.10.10", "91.64.10.0"],
    ["2003:e8:700:1::1", "2003:e8:700::"],
    ["10.1.2.3", "10.1.2.0"],
  ])("%s is kept and told as %s, and its place is known all the same", async (ip, kept) => {
    const [line, click] = await clickOn(ip);
    expect(click).toMatchObject({ ip: kept, country: ip.startsWith("10.") ? "" : "DE" });
    expect(line).toBe(`302 https://shop.example/?ip=${encodeURIComponent(kept)}`);
    const [row] = await world.stored(`workspace_id = ${discreet.id} and ip = '${kept}'`);
    expect(JSON.stringify(row)).not.toContain(`"${ip}"`);
  });

  test("two of one network are two visitors, and each is known again", async () => {
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

  test("full keeps the address, in its normal form", async () => {
    const [line, click] = await world.follow("/r/LOUD/PART01", main, {
      ip: "2003:E8:700:1:0:0:0:1",
    });
    expect([line, click["ip"]]).toEqual([
      `302 https://shop.example/?ip=${encodeURIComponent("2003:e8:700:1::1")}`,
      "2003:e8:700:1::1",
    ]);
  });
});
