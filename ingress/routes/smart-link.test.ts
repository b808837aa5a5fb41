import { describe, expect, test } from "vitest";
import type { CatalogParts } from "../../test/samples/a-catalog.ts";
import { aClickService, answerLine, recordOf } from "../../test/samples/a-click-service.ts";

const offer = (id: number, more: object = {}): object => ({
  id,
  code: `O${id}`,
  destination_url: `https://o${id}.example/`,
  ...more,
});
const rule = (offers: readonly (readonly [id: number, weight: number])[], conditions = {}) => ({
  name: "rule",
  conditions,
  offers: offers.map(([offer_id, weight]) => ({ offer_id, weight })),
});
const parts = (mode: "weighted" | "waterfall", more: Partial<CatalogParts> = {}): CatalogParts => ({
  workspaces: [{ default_fallback_url: "https://ws.example/" }],
  offers: [offer(1), offer(2), offer(3)],
  affiliates: [{ id: 1 }, { id: 2, code: "PART02" }],
  smartLinks: [
    {
      mode,
      rules: [
        rule([
          [1, 1],
          [2, 3],
        ]),
        rule([[3, 1]]),
      ],
    },
  ],
  ...more,
});

describe("which partner a smart link is clicked for (TRK-004, G147)", () => {
  test.each([
    ["/s/smart-PART02", 2],
    ["/s/SMART-part02", 2],
    ["/s/smart?aid=PART02", 2],
    ["/s/smart?aff=2", 2],
  ])("%s is partner %i", (target, affiliateId) => {
    const record = recordOf(aClickService(parts("weighted")).ask(target));
    expect(record).toMatchObject({
      link_type: "smart",
      smart_link_id: 1,
      affiliate_id: affiliateId,
    });
  });

  test("one bound to a partner needs no name, and works for no other partner", () => {
    const bound = parts("weighted", { smartLinks: [{ affiliate_id: 2, rules: [rule([[1, 1]])] }] });
    const service = aClickService(bound);
    expect(recordOf(service.ask("/s/smart")).affiliate_id).toBe(2);
    expect(recordOf(service.ask("/s/smart-PART02")).affiliate_id).toBe(2);
    expect(answerLine(service.ask("/s/smart-PART01"))).toBe('404 {"error":"unknown_link"}');
  });

  test.each(["/s/smart", "/s/smart-NOBODY", "/s/none-PART01", "/s/-PART01", "/s/smart-"])(
    "%s is unknown",
    (target) => {
      expect(answerLine(aClickService(parts("weighted")).ask(target))).toBe(
        '404 {"error":"unknown_link"}',
      );
    },
  );

  test("a code with hyphens is tried whole before it is cut", () => {
    const smartLinks = [{ code: "my-smart", rules: [rule([[1, 1]])] }];
    const service = aClickService(parts("weighted", { smartLinks }));
    expect(recordOf(service.ask("/s/my-smart?aid=PART01")).smart_link_id).toBe(1);
    expect(recordOf(service.ask("/s/my-smart-PART02")).affiliate_id).toBe(2);
  });
});

describe("which offer a smart link chooses (G147)", () => {
  const choose = (catalog: CatalogParts, random = 0): number =>
    recordOf(aClickService(catalog, () => random).ask("/s/smart-PART01")).offer_id;

  test("by weight among the eligible ones", () => {
    expect([0, 0.24, 0.25, 0.99].map((random) => choose(parts("weighted"), random))).toEqual([
      1, 1, 2, 2,
    ]);
    const one = parts("weighted", { offers: [offer(1), offer(2, { status: "paused" }), offer(3)] });
    expect([0, 0.99].map((random) => choose(one, random))).toEqual([1, 1]);
    const zero = parts("weighted", {
      smartLinks: [
        {
          rules: [
            rule([
              [1, 0],
              [2, 1],
            ]),
          ],
        },
      ],
    });
    expect([0, 0.99].map((random) => choose(zero, random))).toEqual([2, 2]);
    const zeros = rule([
      [1, 0],
      [2, 0],
    ]);
    const allZero = parts("weighted", { smartLinks: [{ rules: [zeros] }] });
    expect([1, 2]).toContain(choose(allZero));
  });

  test("in a waterfall the first eligible one, in the first rule that holds and has one", () => {
    expect(choose(parts("waterfall"), 0.99)).toBe(1);
    expect(
      choose(parts("waterfall", { offers: [offer(1, { status: "paused" }), offer(2), offer(3)] })),
    ).toBe(2);
    const offers = [offer(1, { status: "paused" }), offer(2, { visibility: "private" }), offer(3)];
    expect(choose(parts("waterfall", { offers }))).toBe(3);
    const rules = [
      rule([[1, 1]], { countries_allow: ["US"] }),
      rule([[3, 1]], { countries_allow: ["de"] }),
    ];
    expect(choose(parts("waterfall", { smartLinks: [{ mode: "waterfall", rules }] }))).toBe(3);
  });

  test("a waterfall ignores weights, and takes an offer whose cap only alerts", () => {
    const weights = rule([
      [1, 9],
      [2, 0],
      [3, 9],
    ]);
    const over = { caps: { clicks: { total: 0 }, alert_only: true } };
    const offers = [offer(1, { targeting: { countries_allow: ["US"] } }), offer(2, over), offer(3)];
    const smartLinks = [{ mode: "waterfall" as const, rules: [weights] }];
    const record = recordOf(
      aClickService(parts("waterfall", { offers, smartLinks })).ask("/s/smart-PART01"),
    );
    expect(record).toMatchObject({ offer_id: 2, status: "redirect", status_reason: "cap_over" });
  });

  test("a waterfall does not pass over an offer whose destination is invalid for the click", () => {
    const bad = { destination_url: "https://{sub1}/", fallback_url: "https://bad.example/" };
    const catalog = parts("waterfall", { offers: [offer(1, bad), offer(2), offer(3)] });
    const result = aClickService(catalog).ask("/s/smart-PART01?sub1=a%20b");
    expect(answerLine(result)).toBe("302 https://bad.example/");
    expect(recordOf(result)).toMatchObject({ offer_id: 1, status_reason: "bad_destination" });
  });

  test("offers of another workspace and deleted ones are never chosen", () => {
    const offers = [offer(1, { workspace_id: 2 }), offer(3)];
    expect(choose(parts("waterfall", { offers, workspaces: [{}, { id: 2, slug: "two" }] }))).toBe(
      3,
    );
  });
});

describe("smart links without an offer (TRK-033, TRK-038)", () => {
  const paused = [
    offer(1, { status: "paused" }),
    offer(2, { visibility: "private" }),
    offer(3, { status: "paused" }),
  ];
  const reasonOf = (catalog: CatalogParts) => {
    const result = aClickService(catalog).ask("/s/smart-PART01");
    const { status, status_reason, offer_id, smart_link_id } = recordOf(result);
    expect([answerLine(result), status, smart_link_id]).toEqual([
      "302 https://ws.example/",
      "fallback",
      1,
    ]);
    return [status_reason, offer_id];
  };

  test("no eligible offer is no_match, without an offer", () => {
    expect(reasonOf(parts("weighted", { offers: paused }))).toEqual(["no_match", 0]);
    expect(reasonOf(parts("weighted", { smartLinks: [{ rules: [] }] }))).toEqual(["no_match", 0]);
  });

  test("a waterfall reports the reason of the first offer it tried", () => {
    const lastPrivate = [...paused.slice(0, 2), offer(3, { visibility: "private" })];
    expect(reasonOf(parts("waterfall", { offers: lastPrivate }))).toEqual(["paused", 0]);
    const rules = [
      rule([
        [2, 1],
        [1, 1],
      ]),
    ];
    const smartLinks = [{ mode: "waterfall" as const, rules }];
    expect(reasonOf(parts("waterfall", { offers: paused, smartLinks }))).toEqual([
      "not_approved",
      0,
    ]);
    const none = [
      { mode: "waterfall" as const, rules: [rule([[1, 1]], { countries_allow: ["US"] })] },
    ];
    expect(reasonOf(parts("waterfall", { smartLinks: none }))).toEqual(["no_match", 0]);
  });

  test.each([
    ["targeting", { targeting: { countries_allow: ["US"] } }],
    ["cap", { caps: { clicks: { total: 0 } } }],
  ])("a waterfall whose first offer fails by %s reports that (TRK-038)", (reason, first) => {
    const offers = [offer(1, first), ...paused.slice(1)];
    expect(reasonOf(parts("waterfall", { offers }))).toEqual([reason, 0]);
  });

  test("a paused smart link and an inactive workspace (TRK-027, TRK-031)", () => {
    expect(reasonOf(parts("weighted", { smartLinks: [{ status: "paused" }] }))).toEqual([
      "paused",
      0,
    ]);
    const workspaces = [
      { status: "inactive" as const, default_fallback_url: "https://ws.example/" },
    ];
    expect(reasonOf(parts("weighted", { workspaces }))).toEqual(["workspace_inactive", 0]);
  });

  test("with url= the visitor is still redirected there, if any of its offers allows the host (TRK-009)", () => {
    const service = aClickService(parts("weighted", { offers: paused }));
    const ask = (url: string) => service.ask(`/s/smart-PART01?url=${encodeURIComponent(url)}`);
    expect(answerLine(ask("https://o3.example/x"))).toBe("302 https://o3.example/x");
    expect(recordOf(ask("https://o3.example/x"))).toMatchObject({
      status: "redirect",
      status_reason: "no_match",
    });
    expect(answerLine(ask("https://evil.example/"))).toBe('403 {"error":"not_allowed"}');
    const other = [offer(1, { workspace_id: 2 })];
    const workspaces = [{}, { id: 2, slug: "two" }];
    const foreign = aClickService(parts("waterfall", { offers: other, workspaces }));
    expect(answerLine(foreign.ask("/s/smart-PART01?url=https://o1.example/"))).toBe(
      '403 {"error":"not_allowed"}',
    );
  });
});
