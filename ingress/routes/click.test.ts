import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Catalog } from "../../schemas/catalog/catalog.ts";
import { ClickRecord } from "../../schemas/events/click-record.ts";
import { clickIdParts, isGenuineClickId } from "../../schemas/ids/click-id.ts";
import { apply, SECRET } from "../../test/samples/a-catalog.ts";
import {
  aClickService,
  answerLine,
  headerOf,
  recordOf,
} from "../../test/samples/a-click-service.ts";
import { aRequestFor } from "../../test/samples/a-request.ts";
import { anyText } from "../../test/samples/any-text.ts";
import { IPHONE } from "../../test/samples/user-agents.ts";
import { clickRoutes } from "./click.ts";

const SHOP_URL = encodeURIComponent("https://shop.example/p?a=1");

describe("the plain partner link", () => {
  test("/r leads to the destination with its macros filled in by the recorded click (TRK-001, TRK-002)", () => {
    const service = aClickService();
    const result = service.ask("/r/SHOP/PART01?sub1=a%20b%26c");
    const record = recordOf(result);
    expect(answerLine(result)).toBe(
      `302 https://shop.example/buy?c=${record.click_id}&s=a%20b%26c`,
    );
    expect(record).toMatchObject({
      status: "redirect",
      status_reason: "",
      link_type: "affiliate",
      workspace_id: 1,
      offer_id: 1,
      advertiser_id: 1,
      affiliate_id: 1,
      sub1: "a b&c",
      destination: headerOf(result, "Location"),
    });
  });

  test("the id contains the time, shard and producer of the click and is genuine", () => {
    const service = aClickService({ offers: [{ id: 6 }] });
    const record = recordOf(service.ask("/r/SHOP/PART01"));
    expect(clickIdParts(record.click_id)).toEqual({ atMs: service.nowMs, shard: 2, producer: 7 });
    expect(isGenuineClickId(record.click_id, SECRET)).toBe(true);
    expect(service.ask("/r/SHOP/PART01").recorded?.lane).toBe(2);
  });

  test("/click with oid and aid behaves as /r (TRK-003)", () => {
    const service = aClickService();
    for (const names of ["oid=shop&aid=part01", "offer=SHOP&aff=PART01", "aff_id=1&offer_id=1"]) {
      const record = recordOf(service.ask(`/click?${names}&sub1=x`));
      expect(record).toMatchObject({ link_type: "affiliate", offer_id: 1, sub1: "x", extra: "" });
    }
    expect(answerLine(service.ask("/click?oid=SHOP"))).toBe('404 {"error":"unknown_link"}');
  });

  test("digits name a code first, then an id (TRK-049, G25)", () => {
    const offers = [
      { id: 1, code: "AAA" },
      { id: 2, code: "3" },
      { id: 3, code: "BBB" },
    ];
    const service = aClickService({ offers });
    expect(recordOf(service.ask("/r/1/1")).offer_id).toBe(1);
    expect(recordOf(service.ask("/r/3/1")).offer_id).toBe(2);
    expect(recordOf(service.ask("/r/bbb/PART01")).offer_id).toBe(3);
  });

  test("segments are percent-decoded once", () => {
    const service = aClickService({ offers: [{ code: "A-B_C" }] });
    expect(recordOf(service.ask("/r/A%2DB_C/PART%30%31")).offer_id).toBe(1);
  });

  test("no macro is left, and those without a value are empty (TRK-048, TRK-050)", () => {
    const destination_url =
      "https://shop.example/{offer_code}/{affiliate_code}?{offer_id}-{affiliate_id}-{sub3}-{country}-{city}-{device}-{os}-{ip}-{keyword}-{campaignid}-{adgroupid}-{gclid}-{timestamp}-{random}-{source_id}&c={click_id}#{click_id}";
    const service = aClickService({ offers: [{ destination_url }] }, () => 0.5);
    const result = service.ask("/r/SHOP/PART01?kw=red+shoes&campaignid=9&gclid=Ab-_&src=s1");
    const { click_id } = recordOf(result);
    expect(headerOf(result, "Location")).toBe(
      `https://shop.example/SHOP/PART01?1-1--DE-Berlin-desktop-Windows-192.0.2.1-red%20shoes-9--Ab-_-1781092800-500000000-s1&c=${click_id}#${click_id}`,
    );
  });

  test("no answer may be cached or indexed (TRK-046, G151)", () => {
    const service = aClickService();
    for (const target of [
      "/r/SHOP/PART01",
      "/r/none/none",
      `/c/SHOP-PART01?url=${SHOP_URL}`,
      "/c/SHOP-PART01",
    ]) {
      const result = service.ask(target);
      expect(headerOf(result, "Cache-Control"), target).toBe("no-store");
      expect(headerOf(result, "X-Robots-Tag"), target).toBe("noindex");
      expect(headerOf(result, "Referrer-Policy"), target).toBeUndefined();
    }
  });

  test("HEAD and POST get the same answer; HEAD is recorded as a bot and never unique (G144, TRK-007)", () => {
    const service = aClickService();
    for (const method of ["HEAD", "POST"]) {
      const result = service.ask("/r/SHOP/PART01", { method });
      expect(result.answer.status).toBe(302);
      expect(recordOf(result).is_bot).toBe(method === "HEAD");
      expect(recordOf(result).may_be_unique).toBe(method === "POST");
    }
  });
});

describe("cookies (G149, TRK-044)", () => {
  const cookies = (result: ReturnType<ReturnType<typeof aClickService>["ask"]>): string[] =>
    result.answer.headers.filter(([name]) => name === "Set-Cookie").map(([, value]) => value);

  test("trk_cid is always set, trk_fcid only when it is absent", () => {
    const service = aClickService();
    const result = service.ask("/r/SHOP/PART01");
    const { click_id } = recordOf(result);
    const rest = "Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax";
    expect(cookies(result)).toEqual([
      `trk_cid=${click_id}; ${rest}`,
      `trk_fcid=${click_id}; ${rest}`,
    ]);
    const cookie = `a=b; trk_fcid=${"a".repeat(32)}; c=d`;
    const again = service.ask("/r/SHOP/PART01", { headers: { cookie } });
    expect(cookies(again)).toEqual([`trk_cid=${recordOf(again).click_id}; ${rest}`]);
    for (const invalid of ["trk_fcid=", "trk_fcid=zz", "x_trk_fcid=1", "trk_fcid"])
      expect(
        cookies(service.ask("/r/SHOP/PART01", { headers: { cookie: invalid } })),
        invalid,
      ).toHaveLength(2);
  });

  test("over TLS they reach an advertiser's page", () => {
    const headers = { xForwardedProto: "https", xForwardedFor: "192.0.2.9" };
    const result = aClickService().ask("/r/SHOP/PART01", { peerIp: "10.0.0.1", headers });
    expect(cookies(result)[0]).toMatch(/; HttpOnly; SameSite=None; Secure$/);
  });

  test("a refused click and a click of no workspace leave the visitor's cookies alone", () => {
    const service = aClickService();
    expect(cookies(service.ask("/c/SHOP-PART01?url=ftp%3A%2F%2Fa"))).toEqual([]);
    expect(cookies(service.ask(`/c/none-none?url=${SHOP_URL}`))).toEqual([]);
  });
});

describe("what is recorded of a visitor", () => {
  test("geo facts, device, language, referrer and host", () => {
    const headers = {
      userAgent: IPHONE,
      acceptLanguage: "de-AT,de;q=0.9",
      referer: "https://Blog.Example:8443/post?x=1",
      host: "TRK.example:443",
    };
    const record = recordOf(aClickService().ask("/r/SHOP/PART01", { headers }));
    expect(record).toMatchObject({
      ip: "192.0.2.1",
      country: "DE",
      region: "Berlin",
      city: "Berlin",
      device_type: "mobile",
      os: "iOS",
      browser: "Safari",
      language: "de-at",
      referrer: "https://Blog.Example:8443/post?x=1",
      referrer_host: "blog.example",
      domain: "trk.example",
      is_bot: false,
      is_proxy: false,
      missing_ua: false,
      may_be_unique: true,
      catalog_version: 4,
    });
  });

  test("the address behind trusted proxies, its network, and whether another proxy was used", () => {
    const service = aClickService();
    const headers = { xForwardedFor: "192.0.2.200, 203.0.113.9, 10.0.0.2" };
    const record = recordOf(service.ask("/r/SHOP/PART01", { peerIp: "10.0.0.1", headers }));
    expect(record).toMatchObject({
      ip: "203.0.113.9",
      is_datacenter: true,
      asn: 64_500,
      as_name: "Cloud Hosting",
      is_proxy: true,
    });
    const own = { xForwardedFor: "203.0.113.9, 10.0.0.2" };
    expect(
      recordOf(service.ask("/r/SHOP/PART01", { peerIp: "10.0.0.1", headers: own })).is_proxy,
    ).toBe(false);
    expect(
      recordOf(service.ask("/r/SHOP/PART01", { headers: { via: "1.1 squid" } })).is_proxy,
    ).toBe(true);
  });

  test("ip_storage truncated keeps the network only, and still distinguishes visitors", () => {
    const service = aClickService({ workspaces: [{ ip_storage: "truncated" }] });
    const one = recordOf(service.ask("/r/SHOP/PART01", { peerIp: "198.51.100.7" }));
    const other = recordOf(service.ask("/r/SHOP/PART01", { peerIp: "198.51.100.8" }));
    expect([one.ip, other.ip]).toEqual(["198.51.100.0", "198.51.100.0"]);
    expect(one.visitor).not.toBe(other.visitor);
    expect(recordOf(service.ask("/r/SHOP/PART01", { peerIp: "2001:db8:1:2::3" })).ip).toBe(
      "2001:db8:1::",
    );
  });

  test("a visitor is an address and a user agent, within an installation (G87)", () => {
    const service = aClickService();
    const visitorOf = (peerIp: string, userAgent: string): number =>
      recordOf(service.ask("/r/SHOP/PART01", { peerIp, headers: { userAgent } })).visitor;
    const base = visitorOf("192.0.2.1", IPHONE);
    expect(visitorOf("192.0.2.1", IPHONE)).toBe(base);
    expect(visitorOf("::ffff:192.0.2.1", IPHONE)).toBe(base);
    expect(visitorOf("192.0.2.2", IPHONE)).not.toBe(base);
    expect(visitorOf("192.0.2.1", "Other/1.0")).not.toBe(base);
    expect(Number.isSafeInteger(base) && base < 2 ** 52).toBe(true);
  });

  test("clicks of people on per-click offers carry the offer's rates, others none (G71)", () => {
    const paid = {
      payout_type: "cpc",
      payout: "0.0500",
      revenue_type: "rpc",
      revenue: "0.1200",
      currency: "EUR",
    } as const;
    const service = aClickService({ offers: [paid] });
    const money = (record: ClickRecord): string[] => [
      record.click_payout,
      record.click_revenue,
      record.currency,
    ];
    expect(money(recordOf(service.ask("/r/SHOP/PART01")))).toEqual(["0.0500", "0.1200", "EUR"]);
    expect(money(recordOf(service.ask("/r/SHOP/PART01", { method: "HEAD" })))).toEqual([
      "0.0000",
      "0.0000",
      "",
    ]);
    apply(service.deps.catalog, { offers: [{ ...paid, status: "paused" }] });
    expect(money(recordOf(service.ask("/r/SHOP/PART01")))).toEqual(["0.0000", "0.0000", ""]);
    expect(money(recordOf(aClickService().ask("/r/SHOP/PART01")))).toEqual([
      "0.0000",
      "0.0000",
      "",
    ]);
  });

  test("a click that a condition refuses earns nothing, although its `url=` redirects it (T14, G71, G232)", () => {
    const paid = { payout_type: "cpc", payout: "0.0500", currency: "EUR" } as const;
    const capped = { ...paid, caps: { payout: { daily: "5.0000" } } };
    const service = aClickService({
      workspaces: [{ allowed_destinations: ["shop.example"] }],
      offers: [capped],
    });
    const path = `/r/SHOP/PART01?url=${encodeURIComponent("https://shop.example/p")}`;
    const seen = (): string[] => {
      const { status, status_reason, click_payout } = recordOf(service.ask(path));
      return [status, status_reason, click_payout];
    };
    expect(seen()).toEqual(["redirect", "", "0.0500"]);
    apply(service.deps.catalog, { offers: [{ ...capped, status: "paused" }] });
    expect(seen()).toEqual(["redirect", "paused", "0.0000"]);
    apply(service.deps.catalog, { offers: [{ ...capped, visibility: "private" }] });
    expect(seen()).toEqual(["redirect", "not_approved", "0.0000"]);
    const alert = { clicks: { daily: 0 }, alert_only: true };
    apply(service.deps.catalog, { offers: [{ ...paid, caps: alert }] });
    expect(seen()).toEqual(["redirect", "cap_over", "0.0500"]);
    apply(service.deps.catalog, { offers: [{ ...paid, caps: { clicks: { daily: 0 } } }] });
    expect(seen()).toEqual(["redirect", "cap", "0.0000"]);
  });

  test("the writer can read every record, whatever the request contains", () => {
    const service = aClickService({ workspaces: [{ allowed_destinations: ["shop.example"] }] });
    fc.assert(
      fc.property(anyText(30), anyText(30), anyText(30), (query, userAgent, header) => {
        const headers = {
          userAgent,
          referer: header,
          acceptLanguage: header,
          cookie: header,
          host: header,
        };
        const result = service.ask(`/r/SHOP/PART01?sub1=${query}&${query}`, { headers });
        expect(ClickRecord.parse(recordOf(result))).toEqual(recordOf(result));
        expect(headerOf(result, "Location")).toMatch(/^[\x21-\x7e]+$/);
      }),
      { numRuns: 50 },
    );
  });
});

describe("hosts and workspaces", () => {
  const two = {
    workspaces: [{ id: 1 }, { id: 2, slug: "two" }],
    advertisers: [{ id: 1 }, { id: 2, workspace_id: 2 }],
    offers: [{ id: 1 }, { id: 2, workspace_id: 2, advertiser_id: 2 }],
    affiliates: [{ id: 1 }, { id: 2, workspace_id: 2 }],
    domains: [
      { id: 1, host: "one.example" },
      { id: 2, host: "two.example", workspace_id: 2 },
    ],
  };
  const workspaceOf = (host: string, parts: Parameters<typeof aClickService>[0] = two): number =>
    recordOf(aClickService(parts).ask("/r/SHOP/PART01", { headers: { host } })).workspace_id;

  test("a listed host serves its own workspace, any other host all of them, the lowest first (G153)", () => {
    expect(workspaceOf("one.example")).toBe(1);
    expect(workspaceOf("two.example:80")).toBe(2);
    expect(workspaceOf("localhost:8080")).toBe(1);
  });

  test("both codes must exist in one workspace (G26)", () => {
    const parts = {
      ...two,
      affiliates: [
        { id: 1, code: "OTHER1" },
        { id: 2, workspace_id: 2 },
      ],
    };
    expect(workspaceOf("localhost", parts)).toBe(2);
    const service = aClickService(parts);
    expect(service.ask("/r/SHOP/PART01", { headers: { host: "one.example" } }).answer.status).toBe(
      404,
    );
  });

  test("an all-digit code of another workspace does not hide an id", () => {
    const parts = {
      ...two,
      offers: [
        { id: 1, code: "2" },
        { id: 2, code: "TWO", workspace_id: 2, advertiser_id: 2 },
      ],
    };
    const result = aClickService(parts).ask("/r/2/PART01", { headers: { host: "two.example" } });
    expect(recordOf(result).offer_id).toBe(2);
  });
});

test("a change of the catalog is in force with the next click", () => {
  const service = aClickService();
  expect(answerLine(service.ask("/r/SHOP/PART01"))).toContain("302 https://shop.example");
  apply(service.deps.catalog, { offers: [{ destination_url: "https://new.example/" }] });
  expect(answerLine(service.ask("/r/SHOP/PART01"))).toBe("302 https://new.example/");
  service.deps.catalog.apply([{ kind: "offer", id: "1", version: 99, record: null }]);
  expect(answerLine(service.ask("/r/SHOP/PART01"))).toBe('404 {"error":"unknown_link"}');
});

test("without a catalog nothing is decided and nothing recorded", () => {
  const { deps } = aClickService();
  for (const { pattern, route } of clickRoutes({ ...deps, catalog: new Catalog() })) {
    const result = route(aRequestFor(pattern.replaceAll(":", "")));
    expect(result.recorded, pattern).toBeUndefined();
    expect(result.answer.status, pattern).toBe(pattern.startsWith("/i/") ? 200 : 503);
  }
});
