import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { GUIDE_GROUPS, pathOfPage } from "../../api/docs/guide/guide-groups.ts";
import { renderPage } from "../../api/docs/guide/render-page.ts";
import { REFUSALS } from "../../ingress/decide/target-url.ts";
import { readLandingRequest } from "../../ingress/request/landing-request.ts";
import {
  IMPRESSION_PARAMETERS,
  type ParameterSet,
  QUERY_LINK_PARAMETERS,
  SERVER_CLICK_PARAMETERS,
} from "../../ingress/request/parameters.ts";
import { readReport } from "../../processors/conversions/report/report-params.ts";
import { LANDING_RESULTS } from "../../schemas/events/inbound-call.ts";
import { POSTBACK_RESULTS } from "../../schemas/events/postback-request.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { DESTINATION_MACROS, STAFF_POSTBACK_MACROS } from "../../schemas/macros/macro-names.ts";
import { textOf } from "../system/guide-examples.ts";
import { pathsBelow } from "./source-files.ts";

const VALUES = {
  api_url: "http://api.test/api/v1",
  tracking_url: "http://track.test",
  offer: "OFFER",
  sale_offer: "SALE",
  partner: "PARTNER",
  smart_link: "SMART",
  token: "TOKEN",
};

const source = (...parts: string[]): string => readFileSync(projectFile(...parts), "utf8");
const pages = new Map(
  GUIDE_GROUPS.flatMap(({ pages: names }) => names).map((name) => [
    name,
    renderPage(source("api", "docs", "guide", "pages", `${name}.md`), VALUES),
  ]),
);
const htmlOf = (name: string): string => pages.get(name)?.html ?? "";
const allHtml = [...pages.values()].map(({ html }) => html).join("\n");
const allText = textOf(allHtml);

/** Words in code style of a page, outside blocks of code. */
function codeWords(name: string): Set<string> {
  const prose = htmlOf(name).replaceAll(/<pre>[\s\S]*?<\/pre>/g, "");
  return new Set(
    [...prose.matchAll(/<code>([\s\S]*?)<\/code>/g)].map(([, code = ""]) => textOf(code)),
  );
}

function missing(name: string, words: Iterable<string>): string[] {
  const known = codeWords(name);
  return [...words].filter((word) => !known.has(word));
}

/** Texts in double quotes that a pattern finds in the sources below these paths. */
function textsIn(paths: readonly string[], pattern: RegExp): string[] {
  const texts = paths.flatMap((path) =>
    [...source(path).matchAll(pattern)].map(([, text = ""]) => text),
  );
  return [...new Set(texts)];
}

test("every page is a file, and every file a page of the sidebar", () => {
  const files = pathsBelow(["api/docs/guide/pages"]).map((path) =>
    path.replace(/^.*\/|\.md$/g, ""),
  );
  expect(files.toSorted()).toEqual([...pages.keys()].toSorted());
});

test("every link of the guide leads to a page, a heading or the API reference", () => {
  const headings = new Map(
    [...pages].map(([name, { html }]) => [
      pathOfPage(name),
      new Set([...html.matchAll(/<h\d id="([^"]+)"/g)].map(([, id = ""]) => id)),
    ]),
  );
  const broken = [...pages].flatMap(([name, { html }]) =>
    [...textlessBlocks(html).matchAll(/<a href="([^"]+)"/g)]
      .map(([, href = ""]) => href)
      .filter((href) => {
        if (href === "/api/v1/docs" || href.startsWith("https://")) return false;
        const [path = "", heading] = href.split("#");
        const known = headings.get(path === "" ? pathOfPage(name) : path);
        return known === undefined || (heading !== undefined && !known.has(heading));
      })
      .map((href) => `${name}: ${href}`),
  );
  expect(broken).toEqual([]);
});

function textlessBlocks(html: string): string {
  return html.replaceAll(/<pre>[\s\S]*?<\/pre>/g, "");
}

test("no heading of a page has the id of another one", () => {
  for (const [name, { html }] of pages) {
    const ids = [...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id);
    expect([name, ids.length - new Set(ids).size, ids.includes("")]).toEqual([name, 0, false]);
  }
});

test("every parameter that /pb and the pixels read is in the guide (PB-004, G119)", () => {
  const read = new Set<string>();
  const params = new Proxy<Record<string, string>>(
    {},
    {
      get: (_params, name) => {
        read.add(String(name));
        return undefined;
      },
    },
  );
  for (const endpoint of ["pb", "px"] as const) readReport({ endpoint, params, cookieClickId: "" });
  expect(read.size).toBeGreaterThan(30);
  const known = new Set([...codeWords("postback"), ...codeWords("pixels"), "js"]);
  expect([...read, "token"].filter((name) => !known.has(name))).toEqual([]);
});

test("every parameter of links, impressions and server clicks is in the guide (G134, G135)", () => {
  const namesOf = ({ slots }: ParameterSet): string[] => [...slots.keys()];
  const ownOf = (set: ParameterSet): string[] =>
    namesOf(set).filter((name) => !QUERY_LINK_PARAMETERS.slots.has(name));
  const kinds = /^(?:oid|offer|offer_id|affid|aid|aff|aff_id)$/;
  const tracked = namesOf(QUERY_LINK_PARAMETERS).filter((name) => !kinds.test(name));
  const named = namesOf(QUERY_LINK_PARAMETERS).filter((name) => kinds.test(name));
  expect(tracked.length).toBeGreaterThan(60);
  expect(missing("sub-ids", tracked)).toEqual([]);
  expect(
    missing(
      "links",
      named.filter((name) => name !== "oid" && name !== "aid"),
    ),
  ).toEqual([]);
  expect(missing("server-clicks", [...ownOf(SERVER_CLICK_PARAMETERS), ...named])).toEqual([]);
  expect(missing("impressions", ownOf(IMPRESSION_PARAMETERS))).toEqual([]);
});

test("every result word, refusal of url= and click reason is in the guide (PB-063, G137, G143)", () => {
  const conditions = textsIn(["ingress/decide/click-conditions.ts"], /^ {2}\| "([a-z_]+)"/gm);
  const others = ["no_match", "bad_destination", "fail_route", "lp", "organic", "coupon"];
  expect(conditions.length).toBeGreaterThan(8);
  expect(missing("postback", POSTBACK_RESULTS)).toEqual([]);
  expect(missing("script", LANDING_RESULTS)).toEqual([]);
  expect(missing("links", [...REFUSALS, ...conditions, ...others])).toEqual([]);
});

test("every macro is in the guide (G125, G148)", () => {
  const macros = [...DESTINATION_MACROS, ...STAFF_POSTBACK_MACROS].map((name) => `{${name}}`);
  expect(missing("macros", macros)).toEqual([]);
});

test("every error of /pb, the pixels and /lp is in the guide", () => {
  const reports = pathsBelow(["processors/conversions"]).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  const called = /\b(?:refused|malformed|unauthorized|Refusal)\(\s*"([^"]+)"/g;
  const named = /"(invalid [^"]+|[a-z ]+ too long)"/g;
  const landing = [
    ...textsIn(["ingress/request/landing-request.ts"], called),
    ...textsIn(["ingress/decide/decide-landing.ts"], /^ {2}\| "([a-z ]+)"/gm),
    ...textsIn(
      ["ingress/routes/landing-answers.ts"],
      /"([a-z]+ [a-z]+ unavailable|[a-z ]+ not loaded)"/g,
    ),
  ];
  const bodies = textsIn(
    ["ingress/routes/report-body.ts"],
    /return "((?:malformed|unreadable) [^"]+)"/g,
  );
  const errors = [...textsIn(reports, called), ...textsIn(reports, named), ...bodies, ...landing];
  expect(errors.length).toBeGreaterThan(50);
  expect([...new Set(errors)].filter((error) => !allText.includes(error))).toEqual([]);
});

test("every option, method and field of the script and /lp is in the guide (SDK-003, G160)", () => {
  const script = source("ingress", "landing", "sdk.js");
  const options = [...script.matchAll(/\boption\("([a-z]+)"\)/g)].map(
    ([, name = ""]) => `data-${name}`,
  );
  const attributes = [...script.matchAll(/"(data-[a-z]+)"/g)].map(([, name = ""]) => name);
  const methods = [
    ...(/var api = \{([\s\S]*?)\n {2}\};/.exec(script)?.[1] ?? "").matchAll(/^ {4}(\w+):/gm),
  ].map(([, name = ""]) => `Tracker.${name}`);
  const read = new Set<string>();
  const reading = source("ingress", "request", "landing-request.ts");
  for (const [, name = ""] of reading.matchAll(/(?:text|fields\.get)\("(\w+)"\)/g)) read.add(name);
  expect(readLandingRequest(Buffer.from("{}")).kind).toBe("landing");
  expect([options.length, methods.length, read.size].every((count) => count > 3)).toBe(true);
  expect(missing("script", [...new Set([...options, ...attributes]), ...read])).toEqual([]);
  const calls = [...codeWords("script")].map((code) => code.replace(/\(.*$/s, ""));
  expect(methods.filter((name) => !calls.includes(name))).toEqual([]);
});

test("every error code of server clicks is in the guide (G156)", () => {
  const codes = [
    ...textsIn(["ingress/routes/server-click.ts"], /CODE_\w+ = (\d+);/g),
    ...textsIn(["ingress/routes/server-click.ts"], /return (\d+);/g),
  ];
  expect(new Set(codes).size).toBe(11);
  expect(missing("server-clicks", codes)).toEqual([]);
});

test("every reason of a conversion's status is in the guide", () => {
  const judge = [
    "processors/conversions/judge/judge-conversion.ts",
    "processors/conversions/judge/decide-change.ts",
  ];
  const reasons = textsIn(judge, /reason: "([a-z_]+)"|return "([a-z_]+)"/g).filter(Boolean);
  const returned = textsIn(judge, /return "([a-z_]+)";/g);
  const changed = textsIn(judge, /"(postback_[a-z]+)"/g);
  const known = new Set([
    ...reasons,
    ...returned,
    ...changed,
    "duplicate",
    "multiple",
    "cap_exceeded",
  ]);
  expect(known.size).toBeGreaterThan(10);
  expect(missing("postback", known)).toEqual([]);
});
