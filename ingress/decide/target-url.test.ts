import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../test/samples/any-text.ts";
import { ALLOWED_PARENT, OTHER_HOSTS, urlCases } from "../../test/samples/urls.ts";
import { compileAllowlist, isAllowed } from "./allowlist.ts";
import { judgeAuthority } from "./host-verdict.ts";
import { readTargetUrl, type TargetUrl } from "./target-url.ts";

const allowlist = compileAllowlist([ALLOWED_PARENT, ...OTHER_HOSTS]);

function outcomeOf(raw: string): string {
  const target = readTargetUrl([raw]);
  if (target.refusal !== "") return target.refusal;
  return isAllowed(allowlist, target.host, target.port) ? target.location : "not_allowed";
}

/**
 * Differences between the browser's reading of a URL that passed and ours: the host must be the same, and the header must be
 * valid. Empty for a refused URL, which has no `Location`.
 */
function contradictions(target: TargetUrl): string[] {
  if (target.refusal !== "") return target.location === "" ? [] : ["a refusal with a Location"];
  const { protocol, hostname, port, username, password } = new URL(target.location);
  const ownPort = protocol === "https:" ? "443" : "80";
  const claims: [string, boolean][] = [
    ["scheme", protocol === "https:" || protocol === "http:"],
    ["credentials", username === "" && password === ""],
    ["host", hostname.replace(/\.$/, "") === target.host],
    ["port", (port === "" ? ownPort : port) === target.port],
    ["header", /^[\x21-\x5b\x5d-\x7e]+$/.test(target.location)],
  ];
  return claims.filter(([, holds]) => !holds).map(([claim]) => `${claim}: ${target.location}`);
}

describe("the corpus of URLs (P27)", () => {
  const cases = urlCases();

  test("has at least 2,000 different values, and every refusal that a URL alone can cause", () => {
    expect(new Set(cases.map(({ raw }) => raw)).size).toBeGreaterThanOrEqual(2_000);
    expect(new Set(cases.map(({ refusal }) => refusal)).size).toBe(10);
  });

  describe("(TRK-006, TRK-013, TRK-014, TRK-015, TRK-016, TRK-017, TRK-018, TRK-019) (TRK-020)", () => {
    describe("TRK-021", () => {
      test("each value passes byte for byte or is refused by its code", () => {
        const wrong = cases.flatMap(({ raw, location, refusal }) => {
          const outcome = outcomeOf(raw);
          return outcome === (refusal ?? location)
            ? []
            : [{ raw, outcome, expected: refusal ?? location }];
        });
        expect(wrong).toEqual([]);
      });
    });
  });

  test("the browser's parser agrees on every host that passes", () => {
    expect(cases.flatMap(({ raw }) => contradictions(readTargetUrl([raw])))).toEqual([]);
  });
});

const authorityText = fc
  .array(
    fc.constantFrom(
      ...Array.from("aZ0.-_:@[]%/\\?#~!$&'()*+,;=<>^`{|}\"xn"),
      "xn--",
      "%2e",
      "%2F",
      "0x",
      "127",
      "::",
      "localhost",
      ".example",
      "\u3002",
      "\uff0e",
      "\u00ad",
      "\u00fc",
      "\u2044",
      "\u212a",
      "\u0130",
      "\u200d",
      "\ufe0f",
      "\u{1d7d9}",
      "\t",
      " ",
      "\n",
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("properties of url= (TRK-006, T13)", () => {
  const host = fc.constantFrom("shop.example", "WWW.Shop.Example", "a.co.uk:8443", "shop.example.");
  const printable = fc
    .array(
      fc.integer({ min: 0x21, max: 0x7e }).filter((code) => code !== 0x5c),
      { maxLength: 40 },
    )
    .map((codes) => String.fromCharCode(...codes));

  test("any URL of printable ASCII arrives byte for byte, however much of it is encoded", () => {
    fc.assert(
      fc.property(host, printable, fc.boolean(), (authority, rest, all) => {
        const url = `https://${authority}/${rest}`;
        const raw = all
          ? [...Buffer.from(url)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
          : encodeURIComponent(url);
        expect(readTargetUrl([raw]).location).toBe(url);
      }),
    );
  });

  test("letters beyond ASCII arrive as their UTF-8, sent raw or encoded", () => {
    const letters = fc.array(fc.integer({ min: 0xa0, max: 0xd7ff }), { maxLength: 20 });
    fc.assert(
      fc.property(letters, (codes) => {
        const path = String.fromCharCode(...codes);
        const location = `https://shop.example/${encodeURIComponent(path)}`;
        expect(readTargetUrl([`https://shop.example/${path}`]).location).toBe(location);
        expect(readTargetUrl([encodeURIComponent(`https://shop.example/${path}`)]).location).toBe(
          location,
        );
      }),
    );
  });

  test("a browser reads every URL that passes as we read it, for any authority (P27)", () => {
    fc.assert(
      fc.property(authorityText, authorityText, (authority, rest) => {
        const target = readTargetUrl([encodeURIComponent(`https://${authority}${rest}`)]);
        expect(contradictions(target)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("no value puts a control character, a space or a letter beyond ASCII into Location (P27)", () => {
    fc.assert(
      fc.property(anyText(), fc.boolean(), (text, isEncoded) => {
        const value = isEncoded
          ? [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
          : text;
        const target = readTargetUrl([`https://shop.example/${value}`]);
        expect(contradictions(target)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("several url= values (TRK-023, T17)", () => {
  test.each([
    [["https%3A//shop.example/", "https%3A//shop.example/"], ""],
    [["https%3A//shop.example/", "https://shop.example/"], ""],
    [["https://shop.example/", "https://shop.example"], "duplicate_url"],
    [["https://shop.example/", ""], "duplicate_url"],
    [["", ""], "empty"],
    [["ftp://x", "foo"], "duplicate_url"],
  ])("%j: %j", (urls, refusal) => {
    expect(readTargetUrl(urls).refusal).toBe(refusal);
  });
});

describe("allowlists (G139, TRK-022)", () => {
  const allows = (entries: readonly string[], authority: string, own = ""): boolean => {
    const { host, port } = judgeAuthority(authority);
    return isAllowed(compileAllowlist(entries, own), host, port || "443");
  };

  test.each([
    ["shop.example", "shop.example", true],
    ["shop.example", "www.shop.example", true],
    ["shop.example", "a.b.shop.example", true],
    ["shop.example", "SHOP.example.", true],
    ["Shop.Example.", "shop.example", true],
    ["shop.example", "myshop.example", false],
    ["shop.example", "example", false],
    ["shop.example", "shop.example.evil.test", false],
    ["*.shop.example", "www.shop.example", true],
    ["*.shop.example", "shop.example", false],
    ["shop.example:8443", "shop.example:8443", true],
    ["shop.example:8443", "shop.example", false],
    ["shop.example:443", "shop.example", true],
    ["shop.example", "shop.example:8443", true],
    ["b\u00fccher.example", "xn--bcher-kva.example", true],
    ["", "shop.example", false],
    ["*", "shop.example", false],
    ["*.", "shop.example", false],
  ])("%s for %s: %s", (entry, authority, expected) => {
    expect(allows([entry], authority)).toBe(expected);
  });

  test("the host of the offer's destination is allowed, and no name below it", () => {
    expect(allows([], "shop.example", "shop.example")).toBe(true);
    expect(allows([], "www.shop.example", "shop.example")).toBe(false);
    expect(allows(["www.shop.example"], "shop.example", "shop.example")).toBe(true);
    expect(allows([], "shop.example")).toBe(false);
  });
});
