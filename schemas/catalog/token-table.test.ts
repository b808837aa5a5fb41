import { expect, test } from "vitest";
import { aCatalog, apply } from "../../test/samples/a-catalog.ts";
import type { Catalog } from "./catalog.ts";

const NOW = 1_000_000;

function ownerOf(catalog: Catalog, token: string, atMs = NOW): string {
  const owner = catalog.ownerOfToken(token, atMs);
  if (owner === undefined) return "nobody";
  return owner.kind === "workspace" ? "workspace" : `advertiser ${owner.advertiser.id}`;
}

test("a replaced token is the advertiser's until its end, exclusive, and unknown from then on", () => {
  const catalog = aCatalog({ oldTokens: [{ id: 1, token: "old", good_until_ms: NOW + 1 }] });
  expect(ownerOf(catalog, "advertiser-token")).toBe("advertiser 1");
  expect(ownerOf(catalog, "old")).toBe("advertiser 1");
  expect(ownerOf(catalog, "old", NOW + 1)).toBe("nobody");
  expect(ownerOf(catalog, "")).toBe("nobody");
  catalog.apply([{ kind: "advertiser_old_token", id: "1", version: 99, record: null }]);
  expect(ownerOf(catalog, "old")).toBe("nobody");
});

test("a token that several owners share is nobody's, also if one of them replaced it (AUTH-022)", () => {
  const catalog = aCatalog({
    advertisers: [{ id: 1 }, { id: 2, postback_token: "two" }],
    oldTokens: [
      { id: 1, token: "two", good_until_ms: NOW + 1 },
      { id: 2, token: "workspace-token", good_until_ms: NOW + 1 },
      { id: 3, token: "twice", good_until_ms: NOW + 1 },
      { id: 4, token: "twice", good_until_ms: NOW + 5 },
    ],
  });
  expect(ownerOf(catalog, "two")).toBe("nobody");
  expect(ownerOf(catalog, "two", NOW + 1)).toBe("advertiser 2");
  expect(ownerOf(catalog, "workspace-token")).toBe("nobody");
  expect(ownerOf(catalog, "twice")).toBe("advertiser 1");
});

test("old and new token are good at every moment of a change that arrives in one go", () => {
  const catalog = aCatalog();
  apply(catalog, { oldTokens: [{ id: 1, token: "advertiser-token", good_until_ms: NOW + 1 }] });
  expect(ownerOf(catalog, "advertiser-token")).toBe("advertiser 1");
  apply(catalog, { advertisers: [{ id: 1, postback_token: "new" }] });
  expect([ownerOf(catalog, "advertiser-token"), ownerOf(catalog, "new")]).toEqual([
    "advertiser 1",
    "advertiser 1",
  ]);
});
