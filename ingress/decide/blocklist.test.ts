import fc from "fast-check";
import { expect, test } from "vitest";
import { aCatalog, apply } from "../../test/samples/a-catalog.ts";
import { aClickService, answerLine } from "../../test/samples/a-click-service.ts";
import { processorTimeRatio } from "../../test/samples/processor-time.ts";
import { isUnsafe, isUnsafeIn } from "./blocklist.ts";
import { readTargetUrl } from "./target-url.ts";

const PARTS = {
  workspaces: [
    { id: 1, allowed_destinations: ["*.example"] },
    { id: 2, slug: "two", allowed_destinations: ["*.example"] },
  ],
  advertisers: [{ id: 1 }, { id: 2, workspace_id: 2 }],
  offers: [{ id: 1 }, { id: 2, workspace_id: 2, advertiser_id: 2, code: "TWO" }],
  affiliates: [{ id: 1 }, { id: 2, workspace_id: 2 }],
  domains: [
    { id: 1, host: "one.example" },
    { id: 2, host: "two.example", workspace_id: 2 },
  ],
  blocklist: ["all.example"],
  workspaceBlocklist: [{ entry: "bad.example/x", workspace_id: 1 }],
};

test("a workspace's list applies to its own clicks only, the installation's to all (#14, G201)", () => {
  const service = aClickService(PARTS);
  const line = (path: string, host: string, target: string): string =>
    answerLine(service.ask(`${path}?url=${encodeURIComponent(target)}`, { headers: { host } }));
  const unsafe = expect.stringContaining("unsafe_target") as unknown;
  expect(line("/c/SHOP-PART01", "one.example", "https://a.bad.example/x/y")).toEqual(unsafe);
  expect(line("/c/TWO-PART01", "two.example", "https://a.bad.example/x/y")).toContain("302");
  expect(line("/c/SHOP-PART01", "one.example", "https://a.bad.example/y")).toContain("302");
  expect(line("/c/SHOP-PART01", "one.example", "https://all.example/")).toEqual(unsafe);
  expect(line("/c/TWO-PART01", "two.example", "https://all.example/")).toEqual(unsafe);
  // An unknown link: each workspace's list applies to the destinations which that workspace allows.
  expect(line("/r/NONE/PART01", "one.example", "https://bad.example/x")).toContain("404");
  expect(line("/r/NONE/PART01", "two.example", "https://bad.example/x")).toContain("302");
  expect(line("/r/NONE/PART01", "unlisted.example", "https://bad.example/x")).toContain("302");
  apply(service.deps.catalog, {
    workspaceBlocklist: [
      { entry: "bad.example/x", workspace_id: 1 },
      { entry: "bad.example", workspace_id: 2 },
    ],
  });
  expect(line("/r/NONE/PART01", "unlisted.example", "https://bad.example/x")).toContain("404");
});

test("a removed entry no longer applies (#14, G201)", () => {
  const catalog = aCatalog(PARTS);
  const target = readTargetUrl(["https://bad.example/x"]);
  expect([isUnsafe(catalog, target), isUnsafeIn(catalog, 1, target)]).toEqual([false, true]);
  expect(isUnsafeIn(catalog, 2, target)).toBe(false);
  const version = catalog.version + 1;
  catalog.apply([{ kind: "workspace_blocklist_entry", id: "1", version, record: null }]);
  expect(isUnsafeIn(catalog, 1, target)).toBe(false);
});

test("an entry costs as much, to read and to look up, beside 10,000 of its host (P40)", () => {
  const numbers = Array.from({ length: 10_000 }, (_, n) => n);
  const target = readTargetUrl(["https://shop.example/none"]);
  const lookUpIn = (blocklist: readonly string[]): (() => void) => {
    const catalog = aCatalog({ blocklist });
    let changes = 0;
    return () => {
      // After each change the list is read again.
      changes += 1;
      apply(catalog, { blocklist: [`shop.example/0${changes}`] });
      for (let n = 0; n < 20; n += 1) expect(isUnsafe(catalog, target)).toBe(false);
    };
  };
  const usual = lookUpIn(numbers.map((n) => `h${n}.example/${n}`));
  const other = lookUpIn(numbers.map((n) => `shop.example/${n}`));
  expect(processorTimeRatio({ usual, other }, 4)).toBeLessThan(4);
});

test("a path is blocked exactly when one of its host's entries begins it (G142)", () => {
  const path = fc.string({ unit: fc.constantFrom("a", "b", "/", "~"), maxLength: 5 });
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 8 }), path, (prefixes, asked) => {
      const catalog = aCatalog({ blocklist: prefixes.map((prefix) => `bad.example/${prefix}`) });
      const target = readTargetUrl([`https://bad.example/${asked}`]);
      expect(isUnsafe(catalog, target)).toBe(prefixes.some((prefix) => asked.startsWith(prefix)));
    }),
  );
});
