import { domainToASCII } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { REFUSALS } from "../../ingress/decide/target-url.ts";
import { anyText } from "../samples/any-text.ts";
import { ALLOWED_PARENT, OTHER_HOSTS, urlCases } from "../samples/urls.ts";
import { words } from "../samples/words.ts";
import { IngressFleet } from "../system/ingress-fleet.ts";
import {
  askOnce,
  askPipelined,
  forEachConcurrently,
  type RawAnswer,
  RawConnection,
  rawRequest,
} from "../system/raw-http.ts";
import { SEED } from "../system/seed.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const GENERATED = IS_FULL ? 400_000 : 4_000;
const BATCH = 1_000;
const CONNECTIONS = 24;

let fleet: IngressFleet;

beforeAll(async () => {
  fleet = await IngressFleet.open({ lanes: 1, env: { TRUSTED_PROXIES: "127.0.0.0/8" } });
  const { world } = fleet;
  const values = ["sub1", "sub2", "source_id", "gclid", "keyword", "campaignid", "adgroupid"];
  const query = values.map((name) => `${name}={${name}}`).join("&");
  const byPath = await world.addOffer({
    destination_url: `https://shop.example/{sub3}/{country}/{device}/{os}/{ip}?${query}#{sub4}`,
    fallback_url: "https://shop.example/fallback/{sub1}",
  });
  await world.addOffer({ destination_url: "https://{sub1}/x" });
  await world.change("update workspace set allowed_destinations = $1", [
    [ALLOWED_PARENT, ...OTHER_HOSTS],
  ]);
  await world.insert("link_key", {
    workspace_id: world.workspaceId,
    key: "KEY",
    offer_id: byPath,
    affiliate_id: world.affiliateId,
  });
  await fleet.untilCurrent();
});

afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
});

/** All requests at full size; otherwise `count` of them, chosen at random. */
function someOf(requests: readonly string[], count: number): string[] {
  const size = IS_FULL ? requests.length : Math.min(count, requests.length);
  const some = fc.shuffledSubarray([...requests], { minLength: size, maxLength: size });
  return fc.sample(some, { numRuns: 1, seed: SEED }).flat();
}

const Refused = z.object({ error: z.string() });

const linkTo = (raw: string): string => rawRequest(`/c/KEY?url=${raw}`);

/** The `Location`, or the code of the refusal. */
function outcomeOf(answer: RawAnswer): string {
  const [location] = answer.headers.get("location") ?? [];
  if (answer.status === 302 && location !== undefined) return location;
  if (answer.status === 403 && location === undefined) {
    return Refused.parse(JSON.parse(answer.body)).error;
  }
  throw new Error(`neither a redirect nor a refusal: ${answer.status} ${answer.body}`);
}

describe("url= (P27, TRK-006, TRK-013, TRK-014, TRK-015, TRK-016, TRK-017, TRK-018, TRK-019)", () => {
  test("each corpus URL is the Location byte for byte, or refused by its code (TRK-020, TRK-021, TRK-025)", async (context) => {
    const cases = urlCases();
    expect(new Set(cases.map(({ raw }) => raw)).size).toBeGreaterThanOrEqual(2_000);
    const answers = await askPipelined(
      fleet.port,
      cases.map(({ raw }) => linkTo(raw)),
    );
    const wrong = cases.flatMap(({ raw, location, refusal }, i) => {
      const answer = answers[i];
      const outcome = answer === undefined ? "" : outcomeOf(answer);
      return outcome === (refusal ?? location)
        ? []
        : [{ raw, outcome, expected: refusal ?? location }];
    });
    reportCases(context, { cases: cases.length, violations: wrong.length });
    expect(wrong).toEqual([]);
  });
});

/** G138 without any code of the service: decoded once, with non-ASCII characters percent-encoded. */
function decodedOnce(raw: string): string {
  return raw.replaceAll(/%[0-9a-fA-F]{2}|[\u0080-\u{10ffff}]+/gu, (found) => {
    if (!found.startsWith("%")) return encodeURIComponent(found);
    const byte = Number.parseInt(found.slice(1), 16);
    return byte < 0x80 ? String.fromCharCode(byte) : found.toUpperCase();
  });
}

/** A `Location` has non-ASCII characters as percent-encoded UTF-8, even in the host (G138). */
const STRICT = /^(https?):\/\/((?:[a-z0-9.-]|%[89A-F][0-9A-F])+)(?::([1-9]\d{0,4}))?(?=[/?#]|$)/i;
const ALLOWED_HOSTS = [ALLOWED_PARENT, ...OTHER_HOSTS];

/** The faults in the outcome of a generated URL. Any refusal is accepted. */
function faultsOf(raw: string, outcome: string): string[] {
  const refusals: readonly string[] = REFUSALS;
  if (refusals.includes(outcome)) return [];
  const strict = STRICT.exec(outcome);
  const parsed = URL.canParse(outcome) ? new URL(outcome) : undefined;
  if (strict === null || parsed === undefined) return [`no strict URL: ${outcome}`];
  const [, , written = "", port = ""] = strict;
  const host = domainToASCII(decodeURIComponent(written)).replace(/\.$/, "");
  const ownPort = parsed.protocol === "https:" ? "443" : "80";
  const claims: Readonly<Record<string, boolean>> = {
    "the decoded url=": outcome === decodedOnce(raw),
    "printable ASCII without a backslash": /^[\x21-\x5b\x5d-\x7e]{1,49152}$/.test(outcome),
    "the same host for a browser": parsed.hostname.replace(/\.$/, "") === host,
    "the same port for a browser": (parsed.port || ownPort) === (port || ownPort),
    "no credentials": parsed.username === "" && parsed.password === "",
    "a host with a name": /\.[a-z0-9-]*[a-z][a-z0-9-]*$/i.test(host),
    "an allowed host": ALLOWED_HOSTS.some((own) => host === own || host.endsWith(`.${own}`)),
  };
  return Object.entries(claims).flatMap(([claim, holds]) =>
    holds ? [] : [`not ${claim}: ${outcome}`],
  );
}

// biome-ignore format: one value per line would hide them
const part = fc.constantFrom(
  ...Array.from("aZ09.-_:@[]%/\\?#~!$&'()*+,;=<>^`{|}\" \t\r\n\0"),
  "xn--", "%2e", "%2F", "%5c", "%40", "%00", "%0d%0a", "%25", "0x", "127.0.0.1", "::1",
  "localhost", "shop.example", ".example", "example", "evil.test", "https:", "http://", "//",
  "\u3002", "\uff0e", "\u00ad", "\u00fc", "\u2044", "\u212a", "\u0130", "\u200d", "\u{1d7d9}",
);
const parts = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(part, { maxLength }).map((all) => all.join(""));
const anyUrl = fc.oneof(
  fc.tuple(parts(8), parts(6)).map(([authority, rest]) => `https://${authority}${rest}`),
  fc
    .tuple(fc.constantFrom("https://shop.example", "HTTP://a.b.Example:81"), parts(12))
    .map(([origin, rest]) => `${origin}/${rest}`),
  fc
    .tuple(parts(3), fc.webUrl({ withQueryParameters: true, withFragments: true }))
    .map((all) => all.join("")),
  anyText().map((text) => `https://shop.example/${text}`),
);
/** The URL percent-encoded to any degree that a sender may choose; bytes that a request line cannot carry are always encoded. */
const anySent = fc.tuple(anyUrl, fc.constantFrom("all", "component", "least")).map(([any, how]) => {
  // Unpaired surrogates become the replacement character, as in a browser.
  const url = Buffer.from(any).toString();
  if (how === "component") return encodeURIComponent(url);
  const pattern = how === "all" ? /[^]/gu : /[^\x21-\x7e]|[%&#]/gu;
  return url.replaceAll(pattern, (found) =>
    Array.from(Buffer.from(found), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
});

test(`own grammar and browser agree on every URL that passes, of ${GENERATED} generated ones (P27)`, async (context) => {
  const wrong: { raw: string; faults: string[] }[] = [];
  let passed = 0;
  for (let from = 0; from < GENERATED; from += BATCH) {
    const sent = fc.sample(anySent, { numRuns: BATCH, seed: SEED + from });
    const answers = await askPipelined(fleet.port, sent.map(linkTo));
    for (const [i, raw] of sent.entries()) {
      const answer = answers[i];
      if (answer?.status === 302) passed += 1;
      const faults = answer === undefined ? ["no answer"] : faultsOf(raw, outcomeOf(answer));
      if (faults.length > 0) wrong.push({ raw, faults });
    }
  }
  reportCases(context, { cases: GENERATED, violations: wrong.length });
  expect(wrong.slice(0, 20)).toEqual([]);
  // A generator that produces only refusals would prove nothing.
  expect(passed).toBeGreaterThan(GENERATED / 10);
});

// biome-ignore format: one value per line would hide them
const BREAKS = [
  "\r\n", "\n", "\r", "\0", "\u000b", "\u0085", "\u2028", "\u560d\u560a", "\u0100\u010a",
];
/** Every way to write bytes in a request that might become a line break in an answer. */
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => bytesOf(text, (hex) => `%${hex}`),
  (text) => bytesOf(text, (hex) => `%25${hex}`),
  (text) => bytesOf(text, (hex) => `%u00${hex}`),
  (text) => bytesOf(text, (hex) => `%c0%${(Number.parseInt(hex, 16) | 0x80).toString(16)}`),
  // Raw bytes, except those that would end the request itself.
  (text) =>
    Buffer.from(
      text.replaceAll(/[\0-\x20]/g, (found) => `\\x${found.charCodeAt(0).toString(16)}`),
    ).toString("latin1"),
];

function bytesOf(text: string, write: (hex: string) => string): string {
  return Array.from(Buffer.from(text), (byte) => write(byte.toString(16).padStart(2, "0"))).join(
    "",
  );
}

const payloads = BREAKS.flatMap((mark) =>
  ENCODINGS.map((encode) =>
    encode(`a${mark}Set-Cookie: evil=1${mark}X-Evil: 1${mark}${mark}<script>`),
  ),
);

const NAMES = [
  ...words(`
  url sub1 sub2 sub3 sub4 source_id gclid keyword campaignid oid aid token ip user_agent
  click_id event offer offer_id txid amount currency status reason cid trk_cid callback
`),
  "extra\r\nX-Evil",
];
const PATHS = words(`
  /c/KEY /c/KEY?url=https%3A%2F%2Fshop.example%2F /r/OFFER1/PARTNR /r/OFFER2/PARTNR
  /click?oid=OFFER1&aid=PARTNR /s/none /i/OFFER1/PARTNR /clk?token=ws-token /pb?token=ws-token
  /px?offer=OFFER1 /px.gif /lp /px.js /none
`);
const HEADER_NAMES = words(`
  User-Agent Referer X-Forwarded-For X-Forwarded-Proto Cookie Origin Accept-Language Via
  If-None-Match X-Evil
`);
/** An answer with any other header is a fault. */
const KNOWN_HEADERS = new Set(
  words(`
  location cache-control x-robots-tag set-cookie date content-length allow content-type x-request-id
  connection x-tracker-conversion x-tracker-hint retry-after etag vary access-control-allow-origin
  access-control-allow-methods access-control-max-age access-control-allow-headers
  access-control-allow-credentials x-content-type-options timing-allow-origin
  cross-origin-resource-policy
`),
);
const OWN_COOKIE =
  /^trk_f?cid=[0-9a-f]{32}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=(Lax|None; Secure)$/;

function injections(answer: RawAnswer): string[] {
  const found = [...answer.headers.keys()].filter((name) => !KNOWN_HEADERS.has(name));
  const cookies = answer.headers.get("set-cookie") ?? [];
  found.push(...cookies.filter((cookie) => !OWN_COOKIE.test(cookie)));
  const location = answer.headers.get("location")?.[0] ?? "https://shop.example/";
  if (!/^https?:\/\/[a-z0-9.-]+\.example[/?#]/.test(location)) found.push(location);
  return found;
}

test("no parameter value starts a header, a cookie or a body of its own, in any encoding (P27)", async () => {
  const requests = PATHS.flatMap((path) =>
    NAMES.flatMap((name) =>
      payloads.map((payload) =>
        rawRequest(
          `${path}${path.includes("?") ? "&" : "?"}${encodeURIComponent(name)}=${payload}`,
        ),
      ),
    ),
  );
  const segments = payloads.flatMap((payload) =>
    ["/c/", "/r/OFFER1/", "/r/", "/s/", "/i/OFFER1/", "/"].map((path) =>
      rawRequest(`${path}${payload}/x?url=https://shop.example/`),
    ),
  );
  // Requests of /pb, /px and /lp wait for another process, so they are not pipelined.
  const isWaiting = (request: string): boolean => /^GET \/(pb|px|lp)/.test(request);
  const all = [...requests, ...segments];
  const waiting = someOf(all.filter(isWaiting), 400);
  const found: string[] = [];
  const judge = (request: string, answer: RawAnswer | undefined): void => {
    const faults = answer === undefined ? ["no answer"] : injections(answer);
    for (const fault of faults) found.push(`${fault} by ${request}`);
  };
  const direct = someOf(
    all.filter((request) => !isWaiting(request)),
    5_000,
  );
  const answers = await askPipelined(fleet.port, direct);
  for (const [i, request] of direct.entries()) judge(request, answers[i]);
  await forEachConcurrently(waiting, CONNECTIONS, async (request) => {
    judge(request, await askOnce(fleet.port, request));
  });
  expect(found.slice(0, 20)).toEqual([]);
});

test("no header value starts another header; a raw line break ends the connection (P27)", async () => {
  const found: string[] = [];
  const judge = (request: string, answer: RawAnswer | undefined): void => {
    for (const fault of answer === undefined ? [] : injections(answer))
      found.push(`${fault} by ${request}`);
  };
  const clean = HEADER_NAMES.flatMap((name) =>
    payloads.flatMap((value) =>
      ["/c/KEY?url=https://shop.example/", "/r/OFFER1/PARTNR", "/px", "/lp"].map((path) =>
        rawRequest(path, { headers: [`${name}: ${value}`] }),
      ),
    ),
  );
  await forEachConcurrently(someOf(clean, 500), CONNECTIONS, async (request) => {
    judge(request, await askOnce(fleet.port, request));
  });
  const marks = ["\r", "\n", "\0", "\u000b", "\u0085", "\u00ff", "\u007f", "\r\n ", "\n\t"];
  const broken = HEADER_NAMES.flatMap((name) =>
    marks.map((mark) =>
      rawRequest("/r/OFFER1/PARTNR?sub1=broken", {
        headers: [`${name}: a${mark}Set-Cookie: evil=1${mark}${mark}X-Evil: 1`],
      }),
    ),
  );
  await forEachConcurrently(broken, CONNECTIONS, async (request) => {
    const connection = await RawConnection.open(fleet.port);
    connection.send(request);
    // Ends our half, so that the server does not wait for the rest of a request it cannot parse.
    connection.finish();
    for (;;) {
      const answer = await connection.answer();
      if (answer === undefined) break;
      judge(request, answer);
    }
    connection.destroy();
  });
  expect(found.slice(0, 20)).toEqual([]);
});

test("a macro as the host of a destination redirects only where url= may redirect (P27)", async () => {
  const cases = urlCases().filter(
    ({ refusal }) => refusal !== undefined && refusal !== "not_allowed",
  );
  const requests = cases.map(({ raw }) =>
    rawRequest(`/r/OFFER2/PARTNR?sub1=${raw.replace(/^https?%3A%2F%2F/i, "")}`),
  );
  const answers = await askPipelined(fleet.port, requests);
  const wrong = answers.flatMap((answer, i) => {
    const [location] = answer.headers.get("location") ?? [];
    if (location === undefined) return [];
    const strict = STRICT.exec(location);
    const agrees =
      URL.canParse(location) && new URL(location).hostname === strict?.[2]?.toLowerCase();
    return agrees ? [] : [`${location} by ${requests[i] ?? ""}`];
  });
  expect(wrong).toEqual([]);
});
