import { describe, expect, test } from "vitest";
import { capBucket } from "../../schemas/catalog/cap-bucket.ts";
import { apply, type CatalogParts } from "../../test/samples/a-catalog.ts";
import { aClickService, answerLine, recordOf } from "../../test/samples/a-click-service.ts";
import { FIREFOX } from "../../test/samples/user-agents.ts";
import type { RouteResult } from "../route.ts";

const FALLBACK = "https://fallback.example/?r={sub1}";
const QUERY = "sub1=a%20b";
const NEXT_OFFER = { id: 2, code: "NEXT", destination_url: "https://next.example/{click_id}" };
const URL_PARAM = `&url=${encodeURIComponent("https://shop.example/x")}`;

/** The catalog that makes each condition true for a returning visitor with {@link QUERY}, in the order of G143. */
const CONDITIONS: readonly (readonly [reason: string, why: string, parts: CatalogParts])[] = [
  ["workspace_inactive", "the workspace is inactive", { workspaces: [{ status: "inactive" }] }],
  ["paused", "the offer is paused", { offers: [{ status: "paused", fallback_url: FALLBACK }] }],
  ["paused", "the advertiser is paused", { advertisers: [{ status: "paused" }] }],
  ["paused", "the advertiser is inactive", { advertisers: [{ status: "inactive" }] }],
  [
    "paused",
    "the schedule is over",
    { offers: [{ targeting: { schedule: { ends_at: "2026-06-10T11:59:59Z" } } }] },
  ],
  ["not_approved", "the offer needs approval", { offers: [{ visibility: "approval" }] }],
  [
    "not_approved",
    "the offer is private and the request pending",
    {
      offers: [{ visibility: "private" }],
      access: [{ offer_id: 1, affiliate_id: 1, status: "pending" }],
    },
  ],
  ["not_approved", "the offer is private and not shared", { offers: [{ visibility: "private" }] }],
  [
    "not_approved",
    "the request was rejected",
    {
      offers: [{ visibility: "approval" }],
      access: [{ offer_id: 1, affiliate_id: 1, status: "rejected" }],
    },
  ],
  [
    "not_approved",
    "the partner was rejected on a public offer",
    { access: [{ offer_id: 1, affiliate_id: 1, status: "rejected" }] },
  ],
  [
    "not_approved",
    "the terms are not accepted",
    { offers: [{ terms: "No spam." }], access: [{ offer_id: 1, affiliate_id: 1 }] },
  ],
  ...(["pending", "blocked", "rejected"] as const).map(
    (status) => ["not_approved", `the partner is ${status}`, { affiliates: [{ status }] }] as const,
  ),
  [
    "traffic_source",
    "the partner's source is another",
    { templates: [{ params: { sub1: "other", sub2: "{keyword}" } }] },
  ],
  ["targeting", "the country is another", { offers: [{ targeting: { countries_allow: ["US"] } }] }],
  ["cap", "a click cap is reached", { offers: [{ caps: { clicks: { daily: 0 } } }] }],
  ["traffic_control", "a rule blocks it", { controls: [{ conditions: { countries: ["de"] } }] }],
  [
    "duplicate",
    "the visitor has just clicked",
    { offers: [{ duplicate_click_seconds: 3_600, allowed_domains: ["shop.example"] }] },
  ],
  [
    "bad_destination",
    "the value makes no valid host",
    { offers: [{ destination_url: "https://{sub1}/", allowed_domains: ["shop.example"] }] },
  ],
];
const EVERY_CLICK = CONDITIONS.filter(([reason]) => reason !== "bad_destination");

/** The second click of a visitor: no condition stops the first one, which has a `url=`. */
function secondClick(parts: CatalogParts): RouteResult {
  const service = aClickService(parts);
  service.ask(`/r/SHOP/PART01?${QUERY}${URL_PARAM}`);
  return service.ask(`/r/SHOP/PART01?${QUERY}`);
}

const withFallback = (parts: CatalogParts): CatalogParts => ({
  ...parts,
  offers: (parts.offers ?? [{}]).map((offer) => ({ fallback_url: FALLBACK, ...offer })),
});

describe("conditions (TRK-027, TRK-028, TRK-029, TRK-030, TRK-031, TRK-032, TRK-036)", () => {
  test.each(CONDITIONS)("%s: %s: to the fallback, and recorded", (reason, _why, parts) => {
    const result = secondClick(withFallback(parts));
    expect(answerLine(result)).toBe("302 https://fallback.example/?r=a%20b");
    expect(recordOf(result)).toMatchObject({
      status: "fallback",
      status_reason: reason,
      offer_id: 1,
    });
  });

  test.each(EVERY_CLICK)(
    "%s: %s: changes no url= redirect, and is recorded (TRK-009, T14)",
    (reason, _why, parts) => {
      const offers = [{ offer_id: 1, weight: 1 }];
      const rules = [{ name: "all", conditions: {}, offers }];
      const smartLinks = [{ mode: "waterfall" as const, rules }];
      const service = aClickService({ ...withFallback(parts), smartLinks });
      service.ask(`/r/SHOP/PART01?${QUERY}${URL_PARAM}`);
      for (const [path, linkType] of [
        ["/r/SHOP/PART01?", "affiliate"],
        ["/click?oid=SHOP&aid=PART01&", "affiliate"],
        ["/c/SHOP-PART01?", "transparent"],
        ["/s/smart-PART01?", "smart"],
      ] as const) {
        const result = service.ask(`${path}${QUERY}${URL_PARAM}`);
        // A forced source applies to partner links only. A smart link without an offer for the click records none.
        const isFine = reason === "traffic_source" && linkType !== "affiliate";
        expect(answerLine(result), path).toBe("302 https://shop.example/x");
        expect(recordOf(result), path).toMatchObject({
          link_type: linkType,
          status: "redirect",
          status_reason: isFine ? "" : reason,
          offer_id: linkType === "smart" && !isFine ? 0 : 1,
        });
      }
    },
  );

  test("of several conditions the first in the documented order is recorded (G143)", () => {
    const order = CONDITIONS.map(([reason]) => reason);
    for (const [i, [reason, , parts]] of CONDITIONS.entries()) {
      for (const [, , later] of CONDITIONS.slice(i).filter(([other]) => other !== reason)) {
        const result = secondClick(mergeParts(parts, later));
        expect(recordOf(result).status_reason, order[i]).toBe(reason);
      }
    }
  });

  test.each<[string, CatalogParts]>([
    [
      "approved access opens a private offer",
      {
        offers: [{ visibility: "private" }],
        access: [{ offer_id: 1, affiliate_id: 1, status: "approved" }],
      },
    ],
    [
      "accepted terms open an offer",
      {
        offers: [{ terms: "No spam." }],
        access: [{ offer_id: 1, affiliate_id: 1, terms_accepted: true }],
      },
    ],
  ])("%s (TRK-028)", (_why, parts) => {
    expect(recordOf(secondClick(parts)).status_reason).toBe("");
  });
});

/** Both sets of parts over the one workspace, advertiser, offer and partner. */
function mergeParts(one: CatalogParts, other: CatalogParts): CatalogParts {
  const kinds = new Set([...Object.keys(one), ...Object.keys(other)]);
  const recordsOf = (parts: object, kind: string): readonly object[] =>
    new Map<string, readonly object[]>(Object.entries(parts)).get(kind) ?? [];
  return Object.fromEntries(
    Array.from(kinds, (kind) => [
      kind,
      [{ ...recordsOf(other, kind)[0], ...recordsOf(one, kind)[0] }],
    ]),
  );
}

describe("caps (G40)", () => {
  test("exactly N clicks get through, per period of the workspace's time zone (TRK-030)", () => {
    const service = aClickService({
      workspaces: [{ timezone: "Asia/Kolkata" }],
      offers: [{ caps: { clicks: { daily: 3 } } }],
    });
    const reasons = (): string[] =>
      Array.from({ length: 5 }, () => recordOf(service.ask("/r/SHOP/PART01")).status_reason);
    expect(reasons()).toEqual(["", "", "", "cap", "cap"]);
    // Midnight in Kolkata is 18:30 UTC.
    service.nowMs = Date.UTC(2026, 5, 10, 18, 29, 59);
    expect(reasons()[0]).toBe("cap");
    service.nowMs = Date.UTC(2026, 5, 10, 18, 30);
    expect(reasons()).toEqual(["", "", "", "cap", "cap"]);
  });

  test("a cap that only alerts lets the click pass and marks it", () => {
    const service = aClickService({
      offers: [{ caps: { clicks: { total: 1 }, alert_only: true } }],
    });
    service.ask("/r/SHOP/PART01");
    const second = recordOf(service.ask("/r/SHOP/PART01"));
    expect(second).toMatchObject({ status: "redirect", status_reason: "cap_over" });
  });

  test("a cap counted elsewhere holds until its day is over or its limit changes (TRK-030)", () => {
    const service = aClickService({ offers: [{ caps: { conversions: { daily: 1 } } }] });
    const { catalog } = service.deps;
    const reason = (): string => recordOf(service.ask("/r/SHOP/PART01")).status_reason;
    const bucket = capBucket("daily", "UTC", service.nowMs);
    expect(reason()).toBe("");
    service.state.noteReached({ cap: "offer/1/conversions/daily", bucket, limit: "1" });
    expect(reason()).toBe("cap");
    apply(catalog, { offers: [{ caps: { conversions: { daily: 2 } } }] });
    expect(reason()).toBe("");
    apply(catalog, { offers: [{ caps: { conversions: { daily: 1 } } }] });
    expect(reason()).toBe("cap");
    service.nowMs += 86_400_000;
    expect(reason()).toBe("");
  });
});

describe("duplicates (G145, TRK-035)", () => {
  test("the same visitor is refused within the time, and not for longer", () => {
    const service = aClickService({
      offers: [{ duplicate_click_seconds: 10, fallback_url: FALLBACK }],
    });
    const click = (peerIp = "192.0.2.1", userAgent = FIREFOX): string =>
      recordOf(service.ask("/r/SHOP/PART01", { peerIp, headers: { userAgent } })).status_reason;
    expect([click(), click(), click("192.0.2.2")]).toEqual(["", "duplicate", ""]);
    expect(click("192.0.2.1", `${FIREFOX}.1`)).toBe("");
    const sameLink = service.ask("/click?oid=SHOP&aid=PART01", { headers: { userAgent: FIREFOX } });
    expect(recordOf(sameLink).status_reason).toBe("duplicate");
    service.nowMs += 9_999;
    expect(click()).toBe("duplicate");
    service.nowMs += 1;
    // Duplicates in between did not restart the time.
    expect(click()).toBe("");
  });

  test("another partner or another offer is no duplicate, and the rule is off by default", () => {
    const rule = { duplicate_click_seconds: 10 };
    const service = aClickService({
      offers: [
        { id: 1, ...rule },
        { id: 2, code: "TWO", ...rule },
        { id: 3, code: "OFF" },
      ],
      affiliates: [{ id: 1 }, { id: 2, code: "PART02" }],
    });
    const paths = [
      "/r/SHOP/PART01",
      "/r/SHOP/PART02",
      "/r/TWO/PART01",
      "/r/OFF/PART01",
      "/r/OFF/PART01",
    ];
    expect(paths.map((path) => recordOf(service.ask(path)).status_reason)).toEqual([
      "",
      "",
      "",
      "",
      "",
    ]);
  });
});

describe("traffic controls and fail routes (G146, TRK-036)", () => {
  const forward = { action: "forward", forward_offer_id: 2 } as const;

  test("a forwarded click belongs to the offer it went to", () => {
    const result = aClickService({ offers: [{}, NEXT_OFFER], controls: [forward] }).ask(
      "/r/SHOP/PART01",
    );
    const record = recordOf(result);
    expect(record).toMatchObject({ status: "redirect", status_reason: "forwarded", offer_id: 2 });
    expect(answerLine(result)).toBe(`302 https://next.example/${record.click_id}`);
    expect(result.recorded?.lane).toBe(2);
  });

  test("a visitor is not forwarded to an offer that refuses the click", () => {
    const paused = { ...NEXT_OFFER, status: "paused" } as const;
    for (const offers of [[{}, paused], [{}]]) {
      const record = recordOf(aClickService({ offers, controls: [forward] }).ask("/r/SHOP/PART01"));
      expect(record).toMatchObject({
        status: "fallback",
        status_reason: "traffic_control",
        offer_id: 1,
      });
    }
  });

  test.each<[string, object, boolean]>([
    ["partner", { affiliate_ids: [1] }, true],
    ["other partner", { affiliate_ids: [2] }, false],
    ["absent sub ID", { sub: { sub3: ["x"] } }, false],
    ["single address", { ip_ranges: ["192.0.2.1"] }, true],
    ["other networks", { ip_ranges: ["192.1.0.0/16", "2003::/16"] }, false],
    ["other user agent", { user_agent_contains: ["curl"] }, false],
    ["offer", { offer_ids: [9, 1] }, true],
    ["source", { source_ids: ["bad"] }, true],
    ["other source", { source_ids: ["good"] }, false],
    ["sub ID", { sub: { sub2: ["x", "y"] } }, true],
    ["other sub ID", { sub: { sub2: ["x"] } }, false],
    ["country", { countries: ["de"] }, true],
    ["address", { ip_ranges: ["192.0.2.0/24"] }, true],
    ["other address", { ip_ranges: ["198.51.100.0/24"] }, false],
    ["user agent", { user_agent_contains: ["WINDOWS nt"] }, true],
    ["both of two", { countries: ["DE"], source_ids: ["bad"] }, true],
    ["one of two", { countries: ["US"], source_ids: ["bad"] }, false],
    ["everybody", {}, true],
  ])("a rule by %s", (_name, conditions, isBlocked) => {
    const service = aClickService({ controls: [{ conditions }] });
    const record = recordOf(service.ask("/r/SHOP/PART01?source_id=bad&sub2=y"));
    expect(record.status_reason).toBe(isBlocked ? "traffic_control" : "");
  });

  test("a paused rule does nothing", () => {
    const service = aClickService({ controls: [{ status: "paused" }] });
    expect(recordOf(service.ask("/r/SHOP/PART01")).status_reason).toBe("");
  });

  test("the oldest matching rule decides", () => {
    const controls = [{ ...forward, conditions: { countries: ["DE"] } }, {}];
    const service = aClickService({ offers: [{}, NEXT_OFFER], controls });
    const reasonOf = (peerIp: string): string =>
      recordOf(service.ask("/r/SHOP/PART01", { peerIp })).status_reason;
    expect([reasonOf("192.0.2.1"), reasonOf("198.51.100.1")]).toEqual([
      "forwarded",
      "traffic_control",
    ]);
  });

  test.each<[string, NonNullable<CatalogParts["offers"]>[number]]>([
    ["paused", { status: "paused" }],
    ["of another country", { targeting: { countries_allow: ["US"] } }],
    ["without a valid destination", { destination_url: "https://{sub1}/" }],
  ])("a click on an offer that is %s takes its fail route, on the new offer", (_, offer) => {
    const offers = [{ ...offer, fallback_url: FALLBACK, fail_route_offer_id: 2 }, NEXT_OFFER];
    const record = recordOf(aClickService({ offers }).ask(`/r/SHOP/PART01?${QUERY}`));
    expect(record).toMatchObject({
      status: "redirect",
      status_reason: "fail_route",
      offer_id: 2,
    });
    expect(record.destination).toBe(`https://next.example/${record.click_id}`);
  });

  test("an open offer does not take its fail route", () => {
    const offers = [{ fail_route_offer_id: 2 }, NEXT_OFFER];
    const record = recordOf(aClickService({ offers }).ask("/r/SHOP/PART01"));
    expect(record).toMatchObject({ status_reason: "", offer_id: 1 });
  });

  test("a fail route that refuses the visitor leaves the first reason and the fallback", () => {
    const next = { ...NEXT_OFFER, visibility: "private" } as const;
    const offers = [
      { status: "paused", fallback_url: FALLBACK, fail_route_offer_id: 2 } as const,
      next,
    ];
    const result = aClickService({ offers }).ask("/r/SHOP/PART01");
    expect(answerLine(result)).toContain("302 https://fallback.example/");
    expect(recordOf(result)).toMatchObject({ status_reason: "paused", offer_id: 1 });
  });

  test("with url= neither changes the redirect or the offer", () => {
    const offers = [{ fail_route_offer_id: 2, targeting: { countries_allow: ["US"] } }, NEXT_OFFER];
    const failing = aClickService({ offers }).ask(`/r/SHOP/PART01?${URL_PARAM}`);
    expect(recordOf(failing)).toMatchObject({
      status_reason: "targeting",
      offer_id: 1,
      status: "redirect",
    });
    const forwarding = aClickService({ offers: [{}, NEXT_OFFER], controls: [forward] });
    const record = recordOf(forwarding.ask(`/r/SHOP/PART01?${URL_PARAM}`));
    expect(record).toMatchObject({
      status_reason: "forwarded",
      offer_id: 1,
      destination: "https://shop.example/x",
    });
  });
});

describe("forced traffic-source templates (G181)", () => {
  const templates = [{ params: { sub1: "news", sub2: "{keyword}", sub3: "" }, source_id: "s1" }];
  const reasonOf = (query: string, more: CatalogParts = {}): string =>
    recordOf(aClickService({ templates, ...more }).ask(`/r/SHOP/PART01?${query}`)).status_reason;

  test("a literal value must be equal or absent, a macro accepts any", () => {
    expect(reasonOf("sub1=news&sub2=anything&sub3=free&source_id=s1")).toBe("");
    expect(reasonOf("")).toBe("");
    expect(reasonOf("sub1=other")).toBe("traffic_source");
    expect(reasonOf("sub1=NEWS")).toBe("traffic_source");
    for (const alias of ["s1", "aff_sub"])
      expect(reasonOf(`${alias}=other`), alias).toBe("traffic_source");
    expect(reasonOf("source=s2")).toBe("traffic_source");
    expect([reasonOf("sub1="), reasonOf("s1=news&src=s1&foo=bar")]).toEqual(["", ""]);
    expect(reasonOf("source_id=s2")).toBe("traffic_source");
  });

  test("it applies to its partners only", () => {
    expect(
      reasonOf("sub1=other", { templates: [{ params: { sub1: "news" }, affiliate_ids: [2] }] }),
    ).toBe("");
  });
});
