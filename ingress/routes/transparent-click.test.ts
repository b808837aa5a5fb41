import { describe, expect, test } from "vitest";
import type { CatalogParts } from "../../test/samples/a-catalog.ts";
import {
  aClickService,
  answerLine,
  headerOf,
  recordOf,
} from "../../test/samples/a-click-service.ts";
import { urlCases } from "../../test/samples/urls.ts";
import { words } from "../../test/samples/words.ts";
import { REFUSALS } from "../decide/target-url.ts";

const url = (target: string): string => `url=${encodeURIComponent(target)}`;
const SHOP = url("https://shop.example/p?a=1&b=%20+c#d");
const PATHS = [
  "/c/SHOP-PART01?",
  "/r/SHOP/PART01?",
  "/click?oid=SHOP&aid=PART01&",
  "/s/smart-PART01?",
];
const parts: CatalogParts = {
  smartLinks: [{ rules: [{ name: "all", conditions: {}, offers: [{ offer_id: 1, weight: 1 }] }] }],
  blocklist: ["malware.test", "shop.example/bad/", "evil.example"],
  workspaces: [
    {
      allowed_destinations: ["malware.test", "*.wide.test"],
      default_fallback_url: "https://ws.example/",
    },
  ],
};

describe.each(PATHS)("%s with url=", (path) => {
  test("one 302 to exactly that URL, recorded as a redirect (TRK-005, TRK-009)", () => {
    const result = aClickService(parts).ask(`${path}gclid=abc&${SHOP}`);
    expect(answerLine(result)).toBe("302 https://shop.example/p?a=1&b=%20+c#d");
    expect(recordOf(result)).toMatchObject({
      status: "redirect",
      status_reason: "",
      gclid: "abc",
      destination: "https://shop.example/p?a=1&b=%20+c#d",
      extra: "",
    });
  });

  test.each(["GET", "HEAD", "POST"])("%s gets it (TRK-007)", (method) => {
    expect(aClickService(parts).ask(`${path}${SHOP}`, { method }).answer.status).toBe(302);
  });

  test.each<[string, string]>([
    ["duplicate_url", `${SHOP}&${url("https://shop.example/other")}`],
    ["empty", "url="],
    ["too_long", url(`https://shop.example/${"a".repeat(4_096)}`)],
    ["invalid", url("https://shop.example/a b")],
    ["scheme", url("javascript:alert(1)")],
    ["credentials", url("https://u:p@shop.example/")],
    ["ip_host", url("https://2130706433/")],
    ["local_host", url("https://localhost/")],
    ["bad_host", url("https://a..b/")],
    ["not_allowed", url("https://evil.example/")],
    ["unsafe_target", url("https://a.malware.test/x")],
    ["unsafe_target", url("https://shop.example/x/../%62ad/y")],
  ])(
    "%s is refused with 403, and the click recorded as blocked (TRK-025, TRK-026)",
    (code, query) => {
      const result = aClickService(parts).ask(`${path}gclid=abc&${query}`);
      expect(answerLine(result)).toBe(`403 {"error":"${code}"}`);
      expect(headerOf(result, "Content-Type")).toContain("application/json");
      expect(recordOf(result)).toMatchObject({
        status: "blocked",
        status_reason: code,
        workspace_id: 1,
        offer_id: 1,
        affiliate_id: 1,
        gclid: "abc",
        destination: "",
        may_be_unique: false,
      });
    },
  );

  test("the value ends at a raw & and is decoded once (G138)", () => {
    const raw = "https%3A%2F%2Fshop.example%2Fa+b%2Bc?x=%252B%26y=%23&z=1";
    expect(answerLine(aClickService(parts).ask(`${path}url=${raw}`))).toBe(
      "302 https://shop.example/a+b+c?x=%2B&y=#",
    );
  });

  test("identical values are one value (TRK-023)", () => {
    expect(aClickService(parts).ask(`${path}${SHOP}&${SHOP}`).answer.status).toBe(302);
  });

  test("no macro is expanded in it (G138)", () => {
    const result = aClickService(parts).ask(
      `${path}${url("https://shop.example/{click_id}?{sub1}")}`,
    );
    expect(answerLine(result)).toBe("302 https://shop.example/{click_id}?{sub1}");
  });
});

describe("a URL with several faults is refused for the first one in the documented order (G137)", () => {
  test.each([
    ["duplicate_url", ["", "x"]],
    ["duplicate_url", [`javascript:${" a@1.2.3.4".repeat(500)}`, "x"]],
    ["empty", [""]],
    ["too_long", [`javascript:${" a@1.2.3.4".repeat(500)}`]],
    ["invalid", ["ftp://u@127.0.0.1/ x"]],
    ["scheme", ["ftp://u@127.0.0.1/"]],
    ["credentials", ["https://u@127.0.0.1/"]],
    ["ip_host", ["https://127.0.0.1:0/"]],
    ["local_host", ["https://localhost:0/"]],
    ["bad_host", ["https://a..malware.test:0/"]],
    ["not_allowed", ["https://evil.example/x"]],
    ["unsafe_target", ["https://malware.test/x"]],
  ])("%s: %j", (code, urls) => {
    const answer = aClickService(parts).ask(`/c/SHOP-PART01?${urls.map(url).join("&")}`);
    expect(answerLine(answer)).toBe(`403 {"error":"${code}"}`);
  });
});

test("every refusal of 7.3 is one of the eleven codes", () => {
  expect(REFUSALS).toHaveLength(11);
});

describe("allowlists (TRK-021, TRK-022, G139)", () => {
  const ask = (target: string, offers: NonNullable<CatalogParts["offers"]> = [{}]): string =>
    answerLine(aClickService({ ...parts, offers }).ask(`/c/SHOP-PART01?${url(target)}`));

  test("the workspace's, the offer's and the destination's host", () => {
    expect(ask("https://a.wide.test/")).toBe("302 https://a.wide.test/");
    expect(ask("https://wide.test/")).toBe('403 {"error":"not_allowed"}');
    const offers = [{ allowed_domains: ["brand.test"] }];
    expect(ask("https://www.brand.test/", offers)).toBe("302 https://www.brand.test/");
    expect(ask("https://shop.example/", offers)).toBe("302 https://shop.example/");
    expect(ask("https://www.shop.example/", offers)).toBe('403 {"error":"not_allowed"}');
    expect(ask("https://ws.example/")).toBe('403 {"error":"not_allowed"}');
  });

  test("a destination whose host is a macro allows no host", () => {
    const offers = [{ destination_url: "https://{sub1}.example/" }];
    expect(ask("https://x.example/", offers)).toBe('403 {"error":"not_allowed"}');
  });
});

describe("link keys (G183, T24)", () => {
  test("the offer's code may hold hyphens: the key is cut at its last one", () => {
    const service = aClickService({ offers: [{ code: "MY-SHOP-1" }] });
    for (const key of ["MY-SHOP-1-PART01", "my-shop-1-part01", "%4DY%2DSHOP-1-PART01"])
      expect(recordOf(service.ask(`/c/${key}?${SHOP}`)).offer_id, key).toBe(1);
  });

  test("a key made by hand, compared as it is", () => {
    const service = aClickService({ linkKeys: [{ key: "aB3dE5gH7j" }] });
    expect(recordOf(service.ask(`/c/aB3dE5gH7j?${SHOP}`))).toMatchObject({
      offer_id: 1,
      affiliate_id: 1,
    });
    expect(answerLine(service.ask("/c/AB3DE5GH7J"))).toBe('404 {"error":"unknown_link"}');
  });
});

describe("without url= and unknown links (T15)", () => {
  test.each([
    [{}, "gclid=1"],
    [{}, "URL=x"],
    [{ status: "paused", fallback_url: "https://own.example/" }, "gclid=1"],
  ] as const)(
    "a known key of the offer %j without url= is missing_url, and not recorded (TRK-010)",
    (offer, query) => {
      const service = aClickService({
        ...parts,
        offers: [offer],
        linkKeys: [{ key: "aB3dE5gH7j" }],
      });
      for (const key of ["SHOP-PART01", "aB3dE5gH7j"]) {
        const result = service.ask(`/c/${key}?${query}`);
        expect(answerLine(result)).toBe('400 {"error":"missing_url"}');
        expect(result.recorded).toBeUndefined();
      }
    },
  );

  test.each(
    words(`
  /c/none-none /c/SHOP-none /c/x /r/none/PART01 /r/SHOP/none /click?oid=x&aid=y /click?
  /s/none /s/smart
`),
  )(
    "%s goes to an allowed url=, in no workspace; else it is unknown (TRK-011, TRK-012, G140)",
    (path) => {
      const service = aClickService(parts);
      const ask = (query: string) =>
        service.ask(`${path}${path.includes("?") ? "&" : "?"}${query}`);
      const passed = ask(SHOP);
      expect(answerLine(passed)).toBe("302 https://shop.example/p?a=1&b=%20+c#d");
      expect(recordOf(passed)).toMatchObject({
        workspace_id: 0,
        offer_id: 0,
        affiliate_id: 0,
        status: "redirect",
        may_be_unique: false,
        ip: "192.0.2.0",
      });
      const unknown = [
        "",
        "url=",
        url("https://evil.test/"),
        url("ftp://shop.example/"),
        url("https://malware.test/"),
        `${SHOP}&${url("https://a.wide.test/")}`,
      ];
      for (const query of unknown) {
        const result = ask(query);
        expect(answerLine(result), query).toBe('404 {"error":"unknown_link"}');
        expect(result.recorded, query).toBeUndefined();
      }
    },
  );

  test("the hosts of paused offers and of other workspaces' offers are not allowed for unknown links", () => {
    const service = aClickService({
      workspaces: [{ id: 1 }, { id: 2, slug: "two", allowed_destinations: ["two.test"] }],
      offers: [
        { status: "paused" },
        { id: 2, workspace_id: 2, code: "X", destination_url: "https://x.test/" },
      ],
      domains: [{}],
    });
    for (const target of ["https://shop.example/", "https://two.test/", "https://x.test/"]) {
      expect(service.ask(`/c/none?${url(target)}`).answer.status, target).toBe(404);
    }
    const anyHost = { headers: { host: "localhost" } };
    expect(service.ask(`/c/none?${url("https://two.test/")}`, anyHost).answer.status).toBe(302);
    expect(service.ask(`/c/none?${url("https://x.test/")}`, anyHost).answer.status).toBe(302);
  });
});

test("the whole corpus through the route: Location is exactly the decoded URL, or the refusal's code (P27)", () => {
  const service = aClickService({
    workspaces: [
      {
        allowed_destinations: [
          "example",
          "xn--bcher-kva.example",
          "a.co.uk",
          "shop.com",
          "xn--p1ai.xn--p1ai",
        ],
      },
    ],
  });
  const wrong = urlCases().filter(({ raw, location, refusal }) => {
    const expected =
      location === undefined ? `403 {"error":"${refusal ?? ""}"}` : `302 ${location}`;
    return answerLine(service.ask(`/c/SHOP-PART01?gclid=x&url=${raw}&sub1=y`)) !== expected;
  });
  expect(wrong).toEqual([]);
});
