import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { affiliateLink, finalUrlSuffix, linkValues, transparentLink } from "./build-link.ts";
import { LINT_CODES } from "./lint-issues.ts";
import { type LintRequest, type LintResult, lintTemplate } from "./lint-template.ts";

const GOOD = "https://t.example/c/SHOP-ANNA?gclid={gclid}&url={lpurl}";
const GOOD_B = "https://t.example/c/SHOP-ANNA?msclkid={msclkid}&url={lpurl}";

function lint(asked: Partial<LintRequest>): LintResult {
  return lintTemplate({
    template: undefined,
    finalUrl: undefined,
    suffix: undefined,
    allowUncertified: false,
    platform: "adplatform_a",
    entity: "campaign",
    domains: [
      { host: "t.example", certification: "certified" },
      { host: "Pending.example", certification: "pending" },
      { host: "ported.example:8443", certification: "certified" },
      { host: "1.2.3.4", certification: "certified" },
    ],
    ...asked,
  });
}

/** `severity code` of each issue, in order. */
function linesOf({ template, suffix }: LintResult): { template: string[]; suffix: string[] } {
  const line = (issue: { severity: string; code: string }) => `${issue.severity} ${issue.code}`;
  return { template: (template?.issues ?? []).map(line), suffix: suffix.map(line) };
}

function custom(count: number): string {
  return Array.from({ length: count }, (_, n) => `c${n}={_c${n}}&`).join("");
}

const withCustom = (count: number, id = "gclid"): string =>
  `https://t.example/c/K?${id}={${id}}&${custom(count)}url={lpurl}`;
const LONG = `https://t.example/c/K?gclid={gclid}&sub1=&url={lpurl}`;
const filled = (length: number): string =>
  LONG.replace("sub1=", `sub1=${"x".repeat(length - LONG.length)}`);
const b = { platform: "adplatform_b" } as const;

/** Each row: ID, the request, and every issue that the template must have. */
test.each<[string, Partial<LintRequest>, string[]]>([
  ["LINT-001", { template: GOOD }, []],
  ["LINT-001", { template: GOOD_B, ...b }, []],
  ["LINT-009", { template: " " }, ["error empty"]],
  ["LINT-009", { template: "" }, ["error empty"]],
  ["LINT-010 T18", { template: filled(2_048) }, []],
  ["LINT-010 T18", { template: filled(2_049) }, ["error length_over_2048"]],
  ...["x y", "x\ty", "x\ny", "x\u0000y", "x\u007fy", "x\u00a0y"].map(
    (text): [string, Partial<LintRequest>, string[]] => [
      "LINT-011",
      { template: GOOD.replace("ANNA", text) },
      ["error space_or_control_char"],
    ],
  ),
  ["LINT-012", { template: GOOD.replace("{gclid}", "{gclid}&sub1={x") }, ["error stray_brace"]],
  ["LINT-012", { template: GOOD.replace("ANNA", "ANNA}") }, ["error stray_brace"]],
  [
    "LINT-012",
    { template: GOOD.replace("{gclid}", "{gclid}&sub1={{device}}") },
    ["error stray_brace"],
  ],
  [
    "LINT-013",
    { template: GOOD.replace("{gclid}", "{gclid}{ignore}") },
    ["error ignore_in_template"],
  ],
  ["LINT-014", { template: GOOD.replace("https", "http") }, ["error non_https"]],
  ["LINT-014 G168", { template: GOOD.replace("https://", "") }, ["error non_https"]],
  [
    "LINT-015",
    { template: GOOD.replace("t.example", "{device}.t.example") },
    ["error templated_host"],
  ],
  ["LINT-016", { template: GOOD.replace("t.example", "1.2.3.4") }, ["error ip_host"]],
  ["LINT-016", { template: GOOD.replace("t.example", "0x7f.1") }, ["error ip_host"]],
  ["LINT-016", { template: GOOD.replace("t.example", "[::1]:8080") }, ["error ip_host"]],
  ["LINT-017", { template: GOOD.replace("t.example", "other.example") }, ["error unknown_host"]],
  [
    "LINT-017",
    { template: GOOD.replace("t.example", "t.example@evil.example") },
    ["error unknown_host"],
  ],
  ["LINT-017", { template: GOOD.replace("t.example", "t.example:8443") }, ["error unknown_host"]],
  ["LINT-017", { template: GOOD.replace("t.example", "") }, ["error unknown_host"]],
  ["LINT-017", { template: GOOD.replace("t.example", "T.Example:443") }, []],
  ["LINT-017", { template: GOOD.replace("t.example", "ported.example:8443") }, []],
  ...["/i/S/A", "/px", "/px.gif", "/px.js", "/pb", "/lp", "/sdk.js"].map(
    (path): [string, Partial<LintRequest>, string[]] => [
      "LINT-018",
      { template: GOOD.replace("/c/SHOP-ANNA", path) },
      ["error non_click_path"],
    ],
  ),
  ["LINT-019", { template: "https://t.example/c/K?gclid={gclid}" }, ["error missing_lpurl"]],
  ["LINT-020", { template: GOOD.replace("url=", "u=") }, ["error lpurl_not_in_url_param"]],
  [
    "LINT-020",
    { template: GOOD.replace("url={lpurl}", "").replace("SHOP", "{lpurl}") },
    ["error lpurl_not_in_url_param"],
  ],
  [
    "LINT-020",
    { template: `${GOOD}&u={escapedlpurl}` },
    ["error lpurl_not_in_url_param", "warning lpurl_not_last"],
  ],
  [
    "LINT-021",
    { template: GOOD.replace("{lpurl}", "https://x") },
    ["error missing_lpurl", "error static_url_param"],
  ],
  ["LINT-022", { template: `${GOOD}&url={lpurl}` }, ["error duplicate_url_param"]],
  ["LINT-023", { template: GOOD.replace("{lpurl}", "x{lpurl}") }, ["error text_joined_to_lpurl"]],
  ["LINT-023", { template: `${GOOD}?a=1` }, ["error text_joined_to_lpurl"]],
  ["LINT-024 G168", { template: GOOD, finalUrl: "foo" }, ["error final_url_invalid"]],
  ["LINT-024", { template: GOOD, finalUrl: "" }, ["error final_url_invalid"]],
  ["LINT-024", { template: GOOD, finalUrl: "ftp://x/" }, ["error final_url_invalid"]],
  ["LINT-024", { template: GOOD, finalUrl: "https://x /" }, ["error final_url_invalid"]],
  ["LINT-024", { template: GOOD, finalUrl: "https://shop.example/?a={keyword}" }, []],
  [
    "LINT-025",
    { template: GOOD, finalUrl: "https://T.example/x" },
    ["error final_url_on_tracker_domain"],
  ],
  ["LINT-026", { template: GOOD, finalUrl: "https://x/?u={lpurl}" }, ["error final_url_has_lpurl"]],
  ["LINT-030", { template: GOOD.replace("{gclid}", "{gclid}{foo}") }, ["error unknown_tag"]],
  ["LINT-030", { template: GOOD.replace("{gclid}", "{gclid}{}") }, ["error unknown_tag"]],
  ["LINT-030", { template: GOOD.replace("{gclid}", "{gclid}{MsClkId}") }, ["error unknown_tag"]],
  [
    "LINT-030 G166",
    { template: GOOD.replace("{gclid}", "{gclid}{ifmobile:m}{product_id}{_x}") },
    [],
  ],
  [
    "LINT-031",
    { template: GOOD_B.replace("{msclkid}", "{msclkid}{foo}"), ...b },
    ["warning unknown_tag"],
  ],
  [
    "LINT-031 G166",
    {
      template: GOOD_B.replace("{msclkid}", "{MSCLKID}{IfNative:n}{keyword:x}{Loc_Physical_MS}"),
      ...b,
    },
    [],
  ],
  [
    "LINT-032",
    { template: GOOD.replace("t.example", "pending.example") },
    ["error host_not_certified"],
  ],
  [
    "LINT-033",
    { template: GOOD.replace("t.example", "pending.example"), allowUncertified: true },
    ["warning host_not_certified"],
  ],
  ["LINT-034", { template: `${GOOD}&a=1` }, ["warning lpurl_not_last"]],
  ["LINT-034", { template: `${GOOD}&` }, []],
  [
    "LINT-035",
    { template: `${GOOD.replace("{lpurl}", "{unescapedlpurl}")}&a=1` },
    ["error lpurl_not_last"],
  ],
  ["LINT-035", { template: GOOD.replace("{lpurl}", "{unescapedlpurl}") }, []],
  ["LINT-036", { template: GOOD.replace("/c/SHOP-ANNA", "/foo") }, ["warning unexpected_path"]],
  ["LINT-036", { template: GOOD.replace("/c/SHOP-ANNA", "/clicks") }, ["warning unexpected_path"]],
  ["LINT-036", { template: GOOD.replace("/c/SHOP-ANNA", "") }, ["warning unexpected_path"]],
  ...["/c/K", "/r/SHOP/ANNA", "/s/BEST", "/click"].map(
    (path): [string, Partial<LintRequest>, string[]] => [
      "LINT-036",
      { template: GOOD.replace("/c/SHOP-ANNA", path) },
      [],
    ],
  ),
  [
    "LINT-037",
    { template: `${GOOD}&force_transparent=true` },
    ["warning lpurl_not_last", "warning force_transparent_after_url"],
  ],
  ["LINT-037", { template: GOOD.replace("?", "?force_transparent=true&") }, []],
  ["LINT-038", { template: `${GOOD}#x` }, ["warning fragment_in_tracker"]],
  ["LINT-039", { template: GOOD.replace("?", "?sub1=a&sub1=b&") }, ["warning duplicate_param"]],
  ["LINT-040", { template: GOOD.replace("gclid={gclid}&", "") }, ["warning missing_gclid"]],
  [
    "LINT-041",
    { template: GOOD_B.replace("msclkid={msclkid}&", ""), ...b },
    ["warning missing_msclkid"],
  ],
  ["LINT-042", { template: GOOD, finalUrl: "https://x/#a" }, ["warning final_url_has_fragment"]],
  ["LINT-043", { template: GOOD, finalUrl: "http://x" }, ["warning final_url_not_https"]],
  ["LINT-045 G167", { template: withCustom(8) }, []],
  ["LINT-045", { template: withCustom(9) }, ["warning too_many_custom_parameters"]],
  ["LINT-045", { template: withCustom(8).replace("gclid=", "s={_c0}&t={_c0}&gclid=") }, []],
  [
    "LINT-045",
    { template: withCustom(5), suffix: custom(9).slice(0, -1), entity: "ad_extension" },
    ["warning too_many_custom_parameters"],
  ],
  ["LINT-046 T52", { template: withCustom(3, "msclkid"), ...b, entity: "ad_extension" }, []],
  [
    "LINT-046",
    { template: withCustom(4, "msclkid"), ...b, entity: "ad_extension" },
    ["error too_many_custom_parameters"],
  ],
  ["LINT-047", { template: withCustom(8, "msclkid"), ...b, entity: "keyword" }, []],
  ["LINT-047", { template: withCustom(9, "msclkid"), ...b }, ["error too_many_custom_parameters"]],
  ["LINT-048 T54", { template: "{lpurl}?a=1" }, ["info not_a_click_tracker"]],
  [
    "LINT-048",
    { template: "{unescapedlpurl}#x{foo}" },
    ["error unknown_tag", "info not_a_click_tracker"],
  ],
])("%s: %j has the issues %j", (_id, asked, expected) => {
  const result = lint(asked);
  expect(linesOf(result)).toEqual({ template: expected, suffix: [] });
  // LINT-007: only an error makes a template unusable.
  const isOk = expected.every((line) => !line.startsWith("error"));
  expect([result.ok, result.template?.ok]).toEqual([isOk, isOk]);
});

test.each<[string, Partial<LintRequest>, string[]]>([
  ["LINT-049 G168", { suffix: "a=1" }, []],
  ["LINT-049", { suffix: "" }, []],
  ["LINT-024 G168", { suffix: "a=1", finalUrl: "foo" }, ["error final_url_invalid"]],
  ["LINT-027", { suffix: "?a=1" }, ["error suffix_leading_separator"]],
  ["LINT-027", { suffix: "&a=1" }, ["error suffix_leading_separator"]],
  ["LINT-027", { suffix: "#a" }, ["error suffix_leading_separator"]],
  ["LINT-028", { suffix: "u={lpurl}" }, ["error suffix_has_lpurl"]],
  ["LINT-028", { suffix: "u={escapedlpurl+2}" }, ["error suffix_has_lpurl"]],
  ["LINT-029", { suffix: "{ignore}" }, ["error suffix_has_ignore"]],
  ["LINT-030", { suffix: "a={foo}" }, ["error unknown_tag"]],
  ["LINT-044", { suffix: "url=x" }, ["warning suffix_has_url_param"]],
  ["LINT-044", { suffix: "a=1&url=x" }, ["warning suffix_has_url_param"]],
  ["LINT-044", { suffix: "myurl=x" }, []],
  ["LINT-011", { suffix: "a=b c" }, ["error space_or_control_char"]],
  ["LINT-012", { suffix: "a={keyword" }, ["error stray_brace"]],
  ["LINT-045", { suffix: custom(9) }, ["warning too_many_custom_parameters"]],
])("%s: suffix %j has the issues %j", (_id, asked, expected) => {
  const result = lint(asked);
  expect(result.template).toBeNull();
  expect(linesOf(result).suffix).toEqual(expected);
  expect(result.ok).toBe(expected.every((line) => !line.startsWith("error")));
});

describe("(LINT-003, LINT-007) (LINT-008)", () => {
  test("host, length and tags are those of the template, each tag once", () => {
    const template = "https://T.example:443/c/K?gclid={gclid}&a={gclid}{_x}&url={lpurl}";
    expect(lint({ template }).template).toMatchObject({
      ok: true,
      host: "t.example",
      length: template.length,
      tags: ["{gclid}", "{_x}", "{lpurl}"],
    });
    expect(lint({ template: "{lpurl}" }).template).toMatchObject({ host: null, tags: ["{lpurl}"] });
    expect(lint({ template: "nonsense" }).template).toMatchObject({ host: null, length: 8 });
  });

  test("an error of the suffix alone makes the whole verdict fail, not the template", () => {
    const result = lint({ template: GOOD, suffix: "?a=1" });
    expect([result.ok, result.template?.ok]).toEqual([false, true]);
  });

  test("issues always come in the same order (G168)", () => {
    const { template } = lint({
      template: " http://{x}/px?url=a{lpurl}&url=b&a=1&a=2&force_transparent=1#{ignore}{",
      finalUrl: "http://t.example/#{lpurl}",
    });
    const order = Object.keys(LINT_CODES);
    const codes = (template?.issues ?? []).map(({ code }) => order.indexOf(code));
    expect(codes.length).toBeGreaterThan(12);
    expect(codes).toEqual(codes.toSorted((a, z) => a - z));
  });
});

const pieces = fc.array(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom(
      ..."https:// { } {lpurl} {unescapedlpurl} url= & ? # = / t.example [".split(" "),
    ),
    fc.constantFrom("{_a}", "{ignore}", "{ifmobile:x}", "/c/", "%", "+", ":", "@", " "),
  ),
  { maxLength: 20 },
);
const anyText = fc.option(
  pieces.map((parts) => parts.join("")),
  { nil: undefined },
);
const platform = fc.constantFrom("adplatform_a" as const, "adplatform_b" as const);

test("the linter accepts any text, and is ok exactly when no issue is an error", () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, platform, (template, finalUrl, suffix, on) => {
      const result = lint({ template, finalUrl, suffix, platform: on });
      const issues = [...(result.template?.issues ?? []), ...result.suffix];
      expect(result.ok).toBe(issues.every(({ severity }) => severity !== "error"));
      expect(result.template === null).toBe(template === undefined);
    }),
    { numRuns: 300 },
  );
});

test("for any values, the template and suffix of a link have no error on a certified host (LNK-013)", () => {
  const value = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
  const texts = fc.dictionary(fc.constantFrom("sub1", "sub2", "sub7", "source_id"), value);
  fc.assert(
    fc.property(texts, fc.boolean(), (given, isTemplate) => {
      const values = linkValues(
        isTemplate ? { ...given, sub3: "{keyword}" } : given,
        // A tag of another traffic source is reported as unknown.
        { isTemplate: isTemplate && !Object.values(given).some((text) => text.includes("{")) },
      );
      const parts = {
        origin: "https://t.example",
        offerCode: "SUMMER-SALE",
        affiliateCode: "ANNA",
        values,
      };
      const template = transparentLink(parts);
      expect(template.endsWith("url={lpurl}")).toBe(true);
      const result = lint({ template, suffix: finalUrlSuffix(values) });
      expect([...(result.template?.issues ?? []), ...result.suffix]).toEqual([]);
      expect(URL.canParse(affiliateLink(parts))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
