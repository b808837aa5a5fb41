import { describe, expect, test } from "vitest";
import { aCatalog, type CatalogParts } from "../../test/samples/a-catalog.ts";
import { processorTimeRatio } from "../../test/samples/processor-time.ts";
import { findLinkKey, findOfferLink, findSmartLink, linkScopeOf } from "./find-link.ts";

/** Two workspaces with equal codes; the second had the host first. */
const SHARED = {
  workspaces: [{ id: 1 }, { id: 2, slug: "two" }],
  advertisers: [{ id: 1 }, { id: 2, workspace_id: 2 }],
  offers: [{ id: 1 }, { id: 2, workspace_id: 2, advertiser_id: 2 }],
  affiliates: [{ id: 1 }, { id: 2, workspace_id: 2 }],
  domains: [
    { id: 1, host: "shared.example", workspace_id: 2 },
    { id: 2, host: "shared.example", workspace_id: 1 },
  ],
};

function workspaceOf(
  parts: CatalogParts,
  [offer, affiliate]: readonly [string, string] = ["SHOP", "PART01"],
): number | undefined {
  const scope = linkScopeOf(aCatalog(parts), "shared.example");
  return findOfferLink(scope, offer, affiliate)?.workspace.id;
}

describe("a host with equal codes", () => {
  test("a link leads to the workspace that had the host first (#13, G200)", () => {
    expect(workspaceOf(SHARED)).toBe(2);
    const domains = SHARED.domains.toReversed().map((one, i) => ({ ...one, id: i + 1 }));
    expect(workspaceOf({ ...SHARED, domains })).toBe(1);
  });

  test("a pair that only one workspace has leads to it, whichever was first (#13, G26)", () => {
    const affiliates = [{ id: 1 }, { id: 2, workspace_id: 2, code: "OTHER1" }];
    expect(workspaceOf({ ...SHARED, affiliates })).toBe(1);
  });

  test("a code in one workspace is preferred to an ID in another (#13, G25)", () => {
    const offers = [
      { id: 1, code: "2" },
      { id: 2, code: "TWO", workspace_id: 2, advertiser_id: 2 },
    ];
    expect(workspaceOf({ ...SHARED, offers }, ["2", "PART01"])).toBe(1);
    expect(workspaceOf({ ...SHARED, offers }, ["2", "2"])).toBe(2);
  });

  test("a link of the host's first workspace wins over a smart link of another (#13, G147)", () => {
    const smartLinks = [
      { id: 1, code: "best-PART01", affiliate_id: 1 },
      { id: 2, code: "best", workspace_id: 2 },
    ];
    const find = (domains: CatalogParts["domains"]) =>
      findSmartLink(
        linkScopeOf(
          aCatalog({ ...SHARED, smartLinks, ...(domains && { domains }) }),
          "shared.example",
        ),
        "best-PART01",
        "",
      )?.smartLink.id;
    expect(find(undefined)).toBe(2);
    expect(find([{ id: 1, host: "shared.example" }])).toBe(1);
  });
});

describe("a host that is switched off", () => {
  test("serves no other workspace (#13, G200)", () => {
    const domains = [
      { id: 1, host: "shared.example", workspace_id: 2, status: "inactive" as const },
    ];
    expect(workspaceOf({ ...SHARED, domains })).toBe(2);
    const affiliates = [{ id: 1 }];
    expect(workspaceOf({ ...SHARED, domains, affiliates })).toBeUndefined();
  });

  test("by one of two workspaces serves the other (#13, G200)", () => {
    const [own, other] = SHARED.domains;
    const domains = [{ ...own, status: "inactive" as const }, { ...other }];
    expect(workspaceOf({ ...SHARED, domains })).toBe(1);
  });
});

test("a code that 8,000 workspaces share costs as much for each of them as one of 500", () => {
  const findersOf = (count: number): readonly (() => unknown)[] => {
    const ids = Array.from({ length: count }, (_, n) => n + 1);
    const inEach = ids.map((id) => ({ id, workspace_id: id }));
    const catalog = aCatalog({
      workspaces: ids.map((id) => ({ id, slug: `w${id}` })),
      advertisers: inEach,
      // Workspace ids fall while record ids rise, and no workspace has both codes.
      offers: inEach.map((one) => ({
        ...one,
        workspace_id: count + 1 - one.id,
        advertiser_id: one.id,
      })),
      affiliates: inEach.slice(0, 1),
      smartLinks: inEach.map((one) => ({ ...one, code: "best" })),
    });
    const scope = linkScopeOf(catalog, "unknown.example");
    return [
      () => findOfferLink(scope, "SHOP", "NOBODY"),
      () => findSmartLink(scope, "best", "NOBODY"),
      () => findSmartLink(scope, "best-NOBODY", ""),
    ];
  };
  const repeat = (find: () => unknown, times: number) => () => {
    for (let n = 0; n < times; n += 1) expect(find()).toBeUndefined();
  };
  const [few, many] = [findersOf(500), findersOf(8_000)];
  for (const [index, find] of few.entries()) {
    const other = repeat(many[index] ?? find, 5);
    expect(processorTimeRatio({ usual: repeat(find, 80), other }, 3)).toBeLessThan(3);
  }
});

describe("codes with hyphens", () => {
  const parts = {
    offers: [{ id: 1 }, { id: 2, code: "SHOP-a" }],
    affiliates: [{ id: 1 }, { id: 2, code: "a-b" }, { id: 3, code: "b" }],
    smartLinks: [{ id: 1, code: "best" }],
    aliases: [
      { id: 1, kind: "smart_link" as const, alias: "old-best" },
      { id: 2, kind: "affiliate" as const, alias: "x-PART01", target_id: 3 },
    ],
  };
  const scope = linkScopeOf(aCatalog(parts), "any.example");
  const pairOf = (key: string): readonly number[] => {
    const link = findLinkKey(scope, key);
    return link === undefined ? [] : [link.offer.id, link.affiliate.id];
  };

  test("the last hyphen that gives a pair separates the two codes (T24, G183)", () => {
    expect(pairOf("SHOP-PART01")).toEqual([1, 1]);
    expect(pairOf("SHOP-a-b")).toEqual([2, 3]);
    expect(pairOf("SHOP-a-a-b")).toEqual([2, 2]);
    expect(pairOf("1-a-b")).toEqual([1, 2]);
    expect(pairOf("SHOP-x-PART01")).toEqual([1, 3]);
    expect(pairOf("SHOP-x-b")).toEqual([]);
  });

  test("a smart link is found by code or alias, and its partner at any hyphen (G147, N112)", () => {
    const affiliateOf = (segment: string) => findSmartLink(scope, segment, "")?.affiliate.id;
    expect(affiliateOf("best-a-b")).toBe(2);
    expect(affiliateOf("old-best-PART01")).toBe(1);
    expect(affiliateOf("OLD-best-a-b")).toBe(2);
    expect(affiliateOf("old-best")).toBeUndefined();
    expect(findSmartLink(scope, "old-best", "b")?.affiliate.id).toBe(3);
  });

  test("a key of hyphens is cut in a bounded number of places", () => {
    const lookUp = (hyphens: number) => (): void => {
      const key = "-".repeat(hyphens);
      for (let i = 0; i < 300; i += 1) findLinkKey(scope, key);
    };
    const compared = { usual: lookUp(200), other: lookUp(10_000) };
    expect(processorTimeRatio(compared, 10)).toBeLessThan(10);
  });
});
