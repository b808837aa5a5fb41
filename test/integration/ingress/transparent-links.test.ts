import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOWED_PARENT, OTHER_HOSTS, urlCases } from "../../samples/urls.ts";
import { type Answer, cookiesOf, headerOf, lineOf } from "./click-answer.ts";
import { ClickPathsWorld, type Tenant } from "./click-paths-world.ts";

let world: ClickPathsWorld;
let main: Tenant;
let shopId = 0;

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main", {
    allowed_destinations: [
      "partner.example",
      "*.wild.example",
      "ported.example:8443",
      "BÜCHER.example.",
    ],
    default_fallback_url: "https://ws.example/",
  });
  shopId = await world.addOffer(main, "SHOP", { allowed_domains: ["own.example"] });
  await world.addOffer(main, "SUMMER-SALE");
  await world.addSmartLink(main, "BEST", {
    rules: [{ name: "all", conditions: {}, offers: [{ offer_id: shopId, weight: 1 }] }],
  });
  await world.store.insert("link_key", {
    workspace_id: main.id,
    key: "aB3dE6gH9k",
    offer_id: shopId,
    affiliate_id: main.affiliateId,
  });
  for (const entry of ["bad.partner.example", "partner.example/malware/", "http://own.example/x"])
    await world.store.insert("blocklist_entry", { entry });
  await world.untilCurrent();
});
afterAll(() => world.close());

const ERROR = (code: string, status = 403): string => `${status} {"error":"${code}"}`;
const PATHS = [
  "/c/SHOP-PART01?",
  "/r/SHOP/PART01?",
  "/click?oid=SHOP&aid=PART01&",
  "/s/BEST-PART01?",
];

/** Asks every click path for the same `url=`, and answers what all of them say. */
async function everywhere(url: string): Promise<string> {
  const lines = await Promise.all(
    PATHS.map(async (path) => lineOf(await world.ask(`${path}url=${url}`))),
  );
  expect(new Set(lines).size, lines.join("\n")).toBe(1);
  return lines[0] ?? "";
}

describe("every click path leads to exactly the url= it was given (TRK-005, TRK-006, G138, T13)", () => {
  test.each([
    ["https://shop.example", "https://shop.example"],
    ["https%3A%2F%2Fshop.example%2F", "https://shop.example/"],
    ["HTTPS%3A%2F%2FWWW.Own.EXAMPLE%2FPath", "HTTPS://WWW.Own.EXAMPLE/Path"],
    ["https://shop.example?a=1", "https://shop.example?a=1"],
    ["https%3A%2F%2Fshop.example%2Fa+b%2Bc", "https://shop.example/a+b+c"],
    ["https://shop.example/a%2520b?c=%252B", "https://shop.example/a%20b?c=%2B"],
    ["https://shop.example/p%23top", "https://shop.example/p#top"],
    ["https://shop.example/p#raw", "https://shop.example/p#raw"],
    ["https://shop.example/a/../b/./c//d", "https://shop.example/a/../b/./c//d"],
    ["https://shop.example:443/", "https://shop.example:443/"],
    ["http://own.example:8080/?x", "http://own.example:8080/?x"],
    ["https://shop.example./x", "https://shop.example./x"],
    ["https://shop.example/?a=1%26b=2", "https://shop.example/?a=1&b=2"],
    ["https://shop.example/?a=1&b=2", "https://shop.example/?a=1"],
    ["https://shop.example/%%zz%4", "https://shop.example/%%zz%4"],
    ["https://shop.example/%253Cx%253E", "https://shop.example/%3Cx%3E"],
    ["https://shop.example/%3Cx%3E%22%7B%7D%7C%60", 'https://shop.example/<x>"{}|`'],
    ["https://shop.example/%C3%BC?q=%E6%97%A5", "https://shop.example/%C3%BC?q=%E6%97%A5"],
    ["https://shop.example/\u00c3\u00bc", "https://shop.example/%C3%BC"],
    ["https://shop.example/%FF%fe", "https://shop.example/%FF%FE"],
    [
      "https://shop.example/?u=https://other.example/%3Fv%3D{click_id}",
      "https://shop.example/?u=https://other.example/?v={click_id}",
    ],
    ["https://b%C3%BCcher.example/x", "https://b%C3%BCcher.example/x"],
    ["https://own.example/%0", "https://own.example/%0"],
  ])("%s", async (raw, location) => {
    expect(await everywhere(raw)).toBe(`302 ${location}`);
  });

  test("what is recorded as destination is what was answered (CLK-011)", async () => {
    const answer = await world.ask(
      "/c/SHOP-PART01?sub1=a+b&url=HTTPS%3A%2F%2FShop.example%3Fx%3D%252F&gclid=G1",
    );
    expect(await world.clickOf(answer, main)).toMatchObject({
      link_type: "transparent",
      status: "redirect",
      status_reason: "",
      offer_id: shopId,
      destination: "HTTPS://Shop.example?x=%2F",
      sub1: "a b",
      gclid: "G1",
    });
  });

  test.each([
    ["/c/SHOP-PART01", "/c/shop-part01", "/c/%53HOP%2DPART01", "/c/aB3dE6gH9k"],
    ["/c/SUMMER-SALE-PART01", "/c/summer-sale-PART01"],
  ])("%s and other ways to write its key (G183, T24)", async (...paths) => {
    const offers = await Promise.all(
      paths.map(
        async (path) =>
          (await world.clickOf(await world.ask(`${path}?url=https://shop.example/`), main))[
            "offer_id"
          ],
      ),
    );
    expect(new Set(offers).size).toBe(1);
    expect(lineOf(await world.ask("/c/AB3DE6GH9K?url=https://none.example/"))).toBe(
      ERROR("unknown_link", 404),
    );
  });
});

describe("(TRK-013, TRK-014, TRK-015, TRK-016, TRK-017, TRK-018, TRK-019, TRK-020) (TRK-021)", () => {
  describe("(P27) (G152)", () => {
    test("2,000 values from one address: the exact Location or the one refusal, recorded as such", async () => {
      const wide = await world.addTenant("wide", {
        allowed_destinations: [ALLOWED_PARENT, ...OTHER_HOSTS],
      });
      await world.addOffer(wide, "WIDE");
      await world.untilCurrent();
      const cases = urlCases();
      expect(cases.length).toBeGreaterThan(2_000);
      const wrong: string[] = [];
      const expected = new Map<string, number>();
      await Promise.all(
        cases.map(async ({ raw, location = "", refusal = "" }) => {
          expected.set(refusal, (expected.get(refusal) ?? 0) + 1);
          // Raw letters leave as their UTF-8 bytes.
          const answer = await world.ask(
            `/c/WIDE-PART01?url=${Buffer.from(raw).toString("latin1")}`,
          );
          const right = refusal === "" ? `302 ${location}` : ERROR(refusal);
          if (lineOf(answer) !== right) wrong.push(`${raw}: ${lineOf(answer)}, not ${right}`);
        }),
      );
      expect(wrong).toEqual([]);
      const rows = await world.stored(`workspace_id = ${wide.id}`, cases.length);
      const recorded = new Map<string, number>();
      for (const { status, status_reason } of rows) {
        expect(status).toBe(status_reason === "" ? "redirect" : "blocked");
        recorded.set(String(status_reason), (recorded.get(String(status_reason)) ?? 0) + 1);
      }
      expect(Object.fromEntries(recorded)).toEqual(Object.fromEntries(expected));
    });
  });
});

describe("refusals, whose code is in the answer (TRK-025, G136)", () => {
  const long = (length: number): string => `https://shop.example/${"a".repeat(length - 21)}`;

  test.each<[string, string, string]>([
    ["TRK-013 T16", "empty", ""],
    ["TRK-014", "invalid", "foo"],
    ["TRK-014", "invalid", "https://shop.example/a%20b"],
    ["TRK-014", "invalid", "https://shop.example/%0a"],
    ["TRK-014", "invalid", "https://shop.example%5cx"],
    ["TRK-015", "scheme", "ftp://shop.example/"],
    ["TRK-015", "scheme", "javascript:alert(1)"],
    ["TRK-015", "scheme", "data:text/html,x"],
    ["TRK-017", "credentials", "https://u:p@shop.example/"],
    ["TRK-017 T19", "credentials", "https://u@shop.example/"],
    ["TRK-018", "ip_host", "https://93.184.216.34/"],
    ["TRK-018 T19", "ip_host", "https://1572395042/"],
    ["TRK-018 T19", "ip_host", "https://0x5db8d822/"],
    ["TRK-018 T19", "ip_host", "https://0135.0270.0330.042/"],
    ["TRK-018 T19", "ip_host", "https://%5B2606:2800:21f::1%5D/"],
    ["TRK-019 G141", "local_host", "http://localhost:3000/"],
    ["TRK-019 G141", "local_host", "http://printer.local/"],
    ["TRK-019 G141", "local_host", "http://intranet/"],
    ["TRK-020 G141", "bad_host", "https://a..b"],
    ["TRK-020 G141", "bad_host", "https://-a.example/"],
    ["TRK-020 G141", "bad_host", "https://shop.example:99999/"],
    ["TRK-021", "not_allowed", "https://evil.example/"],
    ["TRK-021", "not_allowed", "https://shop.example.evil.example/"],
    ["TRK-023", "duplicate_url", "https://shop.example/&url=https://shop.example/2"],
    ["TRK-024 G142", "unsafe_target", "https://bad.partner.example/"],
    ["TRK-024 G142", "unsafe_target", "https://x.bad.partner.example/y"],
    ["TRK-024 G142", "unsafe_target", "https://partner.example/malware/a"],
    ["TRK-024 G142", "unsafe_target", "https://partner.example/ok/../malware/a"],
    ["TRK-024 G142", "unsafe_target", "https://partner.example/%256dalware/"],
  ])("%s %s: url=%s", async (_id, code, url) => {
    expect(await everywhere(url)).toBe(ERROR(code));
  });

  test("4,096 characters pass, after decoding and whatever bytes they take (TRK-016, T18)", async () => {
    const letters = `https://shop.example/${"\u00fc".repeat(4_096 - 21)}`;
    expect(await everywhere(long(4_096))).toBe(`302 ${long(4_096)}`);
    expect(await everywhere(encodeURIComponent(long(4_096)))).toBe(`302 ${long(4_096)}`);
    expect(await everywhere(encodeURIComponent(letters))).toBe(`302 ${encodeURI(letters)}`);
    expect(await everywhere(long(4_097))).toBe(ERROR("too_long"));
    expect(await everywhere(encodeURIComponent(`${letters}x`))).toBe(ERROR("too_long"));
  });

  test("identical repetitions are one value, however they are written (TRK-023, T17)", async () => {
    const same = "https://shop.example/&sub1=x&url=https%3A%2F%2Fshop.example%2F";
    expect(await everywhere(same)).toBe("302 https://shop.example/");
    expect(await everywhere("https://shop.example/&url=")).toBe(ERROR("duplicate_url"));
  });

  test("a refusal sets no cookie, is no redirect, and is recorded as blocked with its code", async () => {
    const answer = await world.ask("/c/SHOP-PART01?sub1=blocked&url=https://evil.example/");
    expect([headerOf(answer, "location"), cookiesOf(answer)]).toEqual(["", []]);
    expect(headerOf(answer, "content-type")).toMatch(/^application\/json/);
    const [click] = await world.listed("sub1=blocked", main);
    expect(click).toMatchObject({
      status: "blocked",
      status_reason: "not_allowed",
      destination: "",
      is_unique: false,
      offer_id: shopId,
      affiliate_id: main.affiliateId,
    });
  });

  /** Each is refused for its own reason too, and for every later one. */
  test.each<[string, string]>([
    ["duplicate_url", "&url=x"],
    ["empty", ""],
    ["invalid", "ftp://u@127.0.0.1/ x"],
    ["scheme", "ftp://u@127.0.0.1/"],
    ["credentials", "https://u@127.0.0.1/"],
    ["ip_host", "https://127.0.0.1:0/"],
    ["local_host", "https://localhost:0/"],
    ["bad_host", "https://a..bad.other.example:0/"],
    ["not_allowed", "https://own.example.other/x"],
    ["unsafe_target", "https://own.example/x"],
  ])("%s comes first: %s (G137)", async (code, url) => {
    expect(await everywhere(url.replaceAll(" ", "%20"))).toBe(ERROR(code));
  });

  test("too_long comes before what else is wrong, and after several values (G137)", async () => {
    const url = `javascript:${"%20a@1.2.3.4".repeat(500)}`;
    expect(await everywhere(url)).toBe(ERROR("too_long"));
    expect(await everywhere(`${url}&url=x`)).toBe(ERROR("duplicate_url"));
  });
});

describe("allowed hosts (TRK-022, G139)", () => {
  test.each<[string, boolean]>([
    ["https://own.example/", true],
    ["https://deep.er.own.example/", true],
    ["https://partner.example/", true],
    ["https://PARTNER.example./", true],
    ["https://www.partner.example/", true],
    ["https://a.wild.example/", true],
    ["https://wild.example/", false],
    ["https://ported.example:8443/", true],
    ["https://ported.example/", false],
    ["https://xn--bcher-kva.example/", true],
    ["https://shop.example/", true],
    ["https://www.shop.example/", false],
    ["https://notpartner.example/", false],
    ["https://ws.example/", false],
  ])("%s: %s", async (url, isAllowed) => {
    expect(await everywhere(url)).toBe(isAllowed ? `302 ${url}` : ERROR("not_allowed"));
  });
});

describe("unknown links", () => {
  const unknown = [
    "/c/none-PART01?",
    "/c/SHOP-nobody?",
    "/c/x?",
    "/r/none/PART01?",
    "/click?oid=none&aid=PART01&",
    "/click?",
    "/s/none-PART01?",
    "/s/BEST?",
  ];

  test.each(unknown)("%s is 404 unless url= is allowed (TRK-012, T15)", async (path) => {
    for (const url of [
      "url=https://evil.test/",
      "url=",
      "url=ftp://shop.example/",
      "url=https://bad.partner.example/",
      "sub1=x",
      "url=https://shop.example/&url=https://own.example/",
    ]) {
      const answer = await world.ask(path + url);
      expect(lineOf(answer), url).toBe(ERROR("unknown_link", 404));
      expect(cookiesOf(answer)).toEqual([]);
    }
  });

  test.each(unknown)(
    "%s with an allowed url= leads there, as nobody's click that converts nowhere (TRK-011, G140)",
    async (path) => {
      const sub1 = `ghost${unknown.indexOf(path)}`;
      const answer = await world.ask(`${path}sub1=${sub1}&url=https%3A%2F%2Fpartner.example%3Fa+b`);
      expect(lineOf(answer)).toBe("302 https://partner.example?a+b");
      expect(cookiesOf(answer)).toEqual([]);
      const [row] = await world.stored(`sub1 = '${sub1}'`);
      expect(row).toMatchObject({
        workspace_id: 0,
        offer_id: 0,
        affiliate_id: 0,
        status: "redirect",
        ip: "91.64.10.0",
        is_unique: false,
      });
      const id = String(row?.["id"]);
      await expect(world.rest(`/clicks/${id}`, main.adminKey)).rejects.toThrow(/404/);
      expect(await world.rest(`/clicks?sub1=${sub1}`, main.adminKey)).toMatchObject({ data: [] });
      expect(await world.report(`click_id=${id}`, main)).toEqual({
        ok: false,
        error: "unknown click_id",
      });
      const pixel = await world.ask(`/px?click_id=${id}`);
      expect(headerOf(pixel, "x-tracker-conversion")).toBe("error: unknown click_id");
    },
  );

  test("hosts of paused offers, and of workspaces that the host does not serve, are not open to them (G140)", async () => {
    const far = await world.addTenant("far", { allowed_destinations: ["far.test"] });
    await world.store.insert("tracking_domain", { workspace_id: far.id, host: "far.trk.example" });
    await world.addOffer(main, "ASLEEP", { status: "paused", allowed_domains: ["asleep.test"] });
    await world.untilCurrent();
    const ask = async (url: string, host?: string): Promise<number> =>
      (await world.ask(`/c/none?url=${url}`, host === undefined ? {} : { host })).status;
    expect(await ask("https://asleep.test/")).toBe(404);
    expect(await ask("https://far.test/")).toBe(302);
    expect(await ask("https://far.test/", "far.trk.example")).toBe(302);
    expect(await ask("https://partner.example/", "far.trk.example")).toBe(404);
  });
});

test("a known key without url= is 400 missing_url, in all its states, and no click (TRK-010, T15)", async () => {
  await world.addOffer(main, "TIRED", { status: "paused", fallback_url: "https://own.example/" });
  await world.untilCurrent();
  for (const target of [
    "/c/SHOP-PART01?sub1=missing",
    "/c/aB3dE6gH9k?sub1=missing",
    "/c/TIRED-PART01?sub1=missing",
    "/c/SHOP-PART01?sub1=missing&URL=x",
  ]) {
    const answer = await world.ask(target);
    expect(lineOf(answer), target).toBe(ERROR("missing_url", 400));
    expect(cookiesOf(answer)).toEqual([]);
  }
  // What came later is there: what is not there was not recorded.
  await world.ask("/c/SHOP-PART01?sub1=later&url=https://shop.example/");
  await world.listed("sub1=later", main);
  expect(await world.rest("/clicks?sub1=missing", main.adminKey)).toMatchObject({ data: [] });
});

describe("a refused click and its conversion (TRK-026)", () => {
  const blocked = async (query: string): Promise<Answer> =>
    world.ask(`/c/SHOP-PART01?${query}&url=https://evil.example/`);

  test.each(["gclid", "gbraid", "wbraid", "msclkid"])(
    "by %s it is rejected as click_blocked (G113)",
    async (kind) => {
      expect((await blocked(`${kind}=${kind}-1`)).status).toBe(403);
      expect(await world.report(`${kind}=${kind}-1`, main)).toMatchObject({
        ok: true,
        status: "rejected",
        reason: "click_blocked",
      });
    },
  );

  test("a later click that was not refused is the one that converts", async () => {
    await blocked("gclid=again");
    const answer = await world.ask("/c/SHOP-PART01?gclid=again&url=https://shop.example/");
    const outcome = await world.report("gclid=again", main);
    expect(outcome).toMatchObject({ ok: true, status: "approved" });
    const { conversions } = await world.detailOf(answer, main);
    expect(conversions.map(({ id }) => id)).toEqual([outcome["conversion_id"]]);
  });
});
