import { describe, expect, test } from "vitest";
import { ALLOWED_PARENT, OTHER_HOSTS, urlCases } from "../../samples/urls.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { cookiesOf, headerOf, lineOf } from "./click-answer.ts";
import { ClickPathsWorld } from "./click-paths-world.ts";

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main", {
  allowed_destinations: ["partner.example", "ported.example:8443", "BÜCHER.example."],
});
const shopId = await world.addOffer(main, "SHOP", { allowed_domains: ["own.example"] });
await world.addSmartLink(main, "BEST", {
  rules: [{ name: "all", conditions: {}, offers: [{ offer_id: shopId, weight: 1 }] }],
});
await world.store.insert("link_key", {
  workspace_id: main.id,
  key: "aB3dE6gH9k",
  offer_id: shopId,
  affiliate_id: main.affiliateId,
});
await world.store.insert("blocklist_entry", { entry: "bad.partner.example" });
await world.untilCurrent();

const ERROR = (code: string, status = 403): string => `${status} {"error":"${code}"}`;
const PATHS = [
  "/c/SHOP-PART01?",
  "/r/SHOP/PART01?",
  "/click?oid=SHOP&aid=PART01&",
  "/s/BEST-PART01?",
];

/** Sends the same `url=` to every click path; returns the answer, which must be the same on all of them. */
async function everywhere(url: string): Promise<string> {
  const lines = await Promise.all(
    PATHS.map(async (path) => lineOf(await world.ask(`${path}url=${url}`))),
  );
  expect(new Set(lines).size, lines.join("\n")).toBe(1);
  return lines[0] ?? "";
}

describe("every click path leads to exactly its url=, or refuses it (TRK-005, TRK-006, G138, T13)", () => {
  test.each([
    ["https%3A%2F%2Fshop.example%2Fa+b%2Bc?x=1%26b=2&c=3", "https://shop.example/a+b+c?x=1&b=2"],
    ["HTTPS%3A%2F%2FWWW.Own.EXAMPLE%2F%C3%BC%23top", "HTTPS://WWW.Own.EXAMPLE/%C3%BC#top"],
    ["https://shop.example/\u00c3\u00bc", "https://shop.example/%C3%BC"],
    ["https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"],
    ["https://ported.example:8443/", "https://ported.example:8443/"],
    ["https://shop.example/&url=https%3A%2F%2Fshop.example%2F", "https://shop.example/"],
  ])("%s (TRK-022, TRK-023, G139)", async (raw, location) => {
    expect(await everywhere(raw)).toBe(`302 ${location}`);
  });

  test.each([
    ["not_allowed", "https://ported.example/", "TRK-021"],
    ["duplicate_url", "https://shop.example/&url=https://shop.example/2", "TRK-023, T17"],
    ["unsafe_target", "https://x.bad.partner.example/y", "TRK-024, G142"],
  ])("%s: %s (%s)", async (code, url) => {
    expect(await everywhere(url)).toBe(ERROR(code));
  });

  test("4,096 decoded characters pass, with any number of bytes (TRK-016, T18)", async () => {
    const long = (length: number): string => `https://shop.example/${"a".repeat(length - 21)}`;
    const letters = `https://shop.example/${"\u00fc".repeat(4_096 - 21)}`;
    expect(await everywhere(long(4_096))).toBe(`302 ${long(4_096)}`);
    expect(await everywhere(encodeURIComponent(letters))).toBe(`302 ${encodeURI(letters)}`);
    expect(await everywhere(long(4_097))).toBe(ERROR("too_long"));
    expect(await everywhere(encodeURIComponent(`${letters}x`))).toBe(ERROR("too_long"));
  });

  test("the recorded destination is the Location of the answer (CLK-009, CLK-011)", async () => {
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

  test("a link key that was made by hand leads to its offer and partner (G183, T24)", async () => {
    const answer = await world.ask("/c/aB3dE6gH9k?url=https://shop.example/");
    expect(await world.clickOf(answer, main)).toMatchObject({ offer_id: shopId });
    const other = await world.ask("/c/AB3DE6GH9K?url=https://none.example/");
    expect(lineOf(other)).toBe(ERROR("unknown_link", 404));
  });
});

describe("(TRK-013, TRK-014, TRK-015, TRK-016, TRK-017, TRK-018, TRK-019, TRK-020) (TRK-021)", () => {
  describe("(P27, G141, G152, T16, T19)", () => {
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
          // Raw letters are sent as their UTF-8 bytes.
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

test("a refusal is 403 JSON without a cookie, and stored as blocked with its code (TRK-025, G136)", async () => {
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

describe("unknown links", () => {
  const unknown = ["/c/none-PART01?", "/r/none/PART01?", "/click?oid=none&aid=PART01&", "/s/BEST?"];

  test.each(unknown)("%s is 404 unless url= is allowed (TRK-012, T15)", async (path) => {
    for (const query of ["url=https://evil.test/", "sub1=x"]) {
      const answer = await world.ask(path + query);
      expect(lineOf(answer), query).toBe(ERROR("unknown_link", 404));
      expect(cookiesOf(answer)).toEqual([]);
    }
  });

  test.each(unknown)(
    "%s with an allowed url= leads there; its click has no workspace and converts nowhere (TRK-011, G140)",
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
});

test("a known key without url= is 400 missing_url, and records no click (TRK-010, T15)", async () => {
  const answer = await world.ask("/c/SHOP-PART01?sub1=missing");
  expect(lineOf(answer)).toBe(ERROR("missing_url", 400));
  expect(cookiesOf(answer)).toEqual([]);
  await world.untilListed(main);
  expect(await world.rest("/clicks?sub1=missing", main.adminKey)).toMatchObject({ data: [] });
});

describe("a refused click and its conversion (TRK-026)", () => {
  const block = async (query: string): Promise<void> => {
    const answer = await world.ask(`/c/SHOP-PART01?${query}&url=https://evil.example/`);
    expect(answer.status).toBe(403);
  };

  test.each(["gclid", "gbraid", "wbraid", "msclkid"])(
    "a conversion by %s is rejected as click_blocked (G113)",
    async (kind) => {
      await block(`${kind}=${kind}-1`);
      expect(await world.report(`${kind}=${kind}-1`, main)).toMatchObject({
        ok: true,
        status: "rejected",
        reason: "click_blocked",
      });
    },
  );

  test("a later click that was not refused gets the conversion", async () => {
    await block("gclid=again");
    const answer = await world.ask("/c/SHOP-PART01?gclid=again&url=https://shop.example/");
    const outcome = await world.report("gclid=again", main);
    expect(outcome).toMatchObject({ ok: true, status: "approved" });
    const { conversions } = await world.detailOf(answer, main);
    expect(conversions.map(({ id }) => id)).toEqual([outcome["conversion_id"]]);
  });
});
