import type { Refusal } from "../../ingress/decide/target-url.ts";
import {
  BAD_HOSTS,
  BAD_PORTS,
  CREDENTIALS,
  IP_HOSTS,
  LOCAL_HOSTS,
  NO_URLS,
  SCHEMES,
} from "./refused-urls.ts";

/** A `url=` as it is sent, and the expected result: a `Location` or a refusal (G137). */
export type UrlCase = {
  readonly raw: string;
  readonly location?: string;
  readonly refusal?: Refusal;
};

/** Every accepted host of these cases is below this name, or in {@link OTHER_HOSTS}. */
export const ALLOWED_PARENT = "example";
export const OTHER_HOSTS = ["xn--bcher-kva.example", "a.co.uk", "shop.com", "xn--p1ai.xn--p1ai"];

const GOOD_HOSTS = [
  "shop.example",
  "www.shop.example",
  "a-b.shop.example",
  "0.example",
  "123.shop.example",
  "x--y.example",
  "xn--bcher-kva.example",
  "A.Example",
  "WWW.SHOP.EXAMPLE",
  "shop.example.",
  "shop.com",
  "a.co.uk",
  `${"a".repeat(63)}.example`,
  "a.b.c.d.e.f.g.h.example",
  "1a.2b.example",
  "0xg.example",
  "localhost.example",
  "local.example",
  "lan.internal.example",
  "127.0.0.1.example",
];
const GOOD_PORTS = ["", ":1", ":80", ":443", ":8443", ":65535"];

/** Decoded paths that a normaliser would change, and that must arrive unchanged (T13). */
const PATHS = [
  "",
  "/",
  "//",
  "/a//b",
  "/./a/../b",
  "/a/.",
  "/%2e%2e/x",
  "/a%20b",
  "/a+b",
  "/a%2Bb",
  "/A%C3%A9",
  "/a%c3%a9",
  "/100%",
  "/%zz",
  "/%",
  "/a;b=c;d",
  "/a,b'c(d)*!",
  "/a:b@c",
  "/@user",
  "/http://other.example/",
  "/a|b^c`d",
  "/{x}<y>",
  '/"q"',
  "/~a_b-c.d",
  "/[1]",
  "/$&",
  "/index.html;jsessionid=0A?x=1",
  "?",
  "?a",
  "?a=1",
  "?a=1&b=2&a=3",
  "?a=b+c",
  "?a=%20",
  "?a=%26b%3D",
  "?redirect=https%3A%2F%2Fother.example%2F%3Fx%3D1",
  "?u=https://other.example/",
  "?gclid={gclid}&x={click_id}",
  "?a[]=1&a[]=2",
  "?a=\u0060\u007b\u007d",
  "?=&&=",
  "?a?b?c",
  "#",
  "#top",
  "#/route?x=1",
  "?#",
  "/p?x#y#z",
  "/#!bang",
  "/p?x=1#a@b:c",
  "/p?email=a@b.example",
  "/p%0d%0aSet-Cookie:x=1",
  "/p%00",
  "/\u00fcber",
  "/\u65e5\u672c?q=\u8a9e#\u7d42",
  "/\ud83d\ude00",
  "/caf\u0065\u0301",
];

function encodeNonAscii(text: string): string {
  return text.replace(/[\u0080-\u{10ffff}]+/gu, (found) => encodeURIComponent(found));
}

function passing(url: string): UrlCase[] {
  const location = encodeNonAscii(url);
  const encoded = encodeURIComponent(url);
  // Both encodings mean the same: all characters encoded, or only those that would end the value or look like an escape.
  const least = url.replace(/[%&\u0080-\u{10ffff}]+/gu, (found) => encodeURIComponent(found));
  return [...new Set([encoded, encoded.toLowerCase() === encoded ? encoded : least])].map(
    (raw) => ({ raw, location }),
  );
}

function refusedAs(refusal: Refusal, urls: readonly string[]): UrlCase[] {
  return urls.map((url) => ({ raw: encodeURIComponent(url), refusal }));
}

function around(hosts: readonly string[]): string[] {
  return hosts.flatMap((host) => [
    `https://${host}`,
    `http://${host}/`,
    `https://${host}:8443/p?a=1#b`,
    `HTTPS://${host}?x`,
  ]);
}

const SPACED = [
  " ",
  "\t",
  "\n",
  "\r",
  "\r\n",
  "\u0000",
  "\u0001",
  "\u0008",
  "\u000b",
  "\u000c",
  "\u001b",
  "\u001f",
  "\u007f",
  "\u0080",
  "\u0085",
  "\u009f",
  "\\",
];

function spaced(): string[] {
  const url = "https://shop.example/p?a=1#b";
  return SPACED.flatMap((mark) => [
    mark + url,
    url + mark,
    ...[4, 6, 8, 12, 20, 21, 24, 27].map((at) => url.slice(0, at) + mark + url.slice(at)),
  ]);
}

/** At least 2,000 values, each with its only right answer. */
export function urlCases(): UrlCase[] {
  const good = GOOD_HOSTS.flatMap((host, i) =>
    PATHS.flatMap((path, j) => {
      const scheme = ["https", "http", "HTTPS", "Http"][(i + j) % 4] ?? "https";
      const port = GOOD_PORTS[(i * 3 + j) % GOOD_PORTS.length] ?? "";
      return passing(`${scheme}://${host}${port}${path}`);
    }),
  );
  const long = `https://shop.example/${"a".repeat(4_096 - 21)}`;
  return [
    ...good,
    ...passing("https://b\u00fccher.example/x"),
    ...passing("https://xn--p1ai.xn--p1ai/"),
    ...passing(long),
    ...passing(`https://shop.example/${"\u00e9".repeat(4_096 - 21)}`),
    ...passing(`https://shop.example/${"\ud83d\ude00".repeat(4_096 - 21)}`),
    { raw: "https://shop.example/%FF%fe", location: "https://shop.example/%FF%FE" },
    { raw: "https://shop.example/%2525", location: "https://shop.example/%25" },
    { raw: "https://shop.example/a+b%2Bc", location: "https://shop.example/a+b+c" },
    { raw: "", refusal: "empty" },
    ...refusedAs("too_long", [
      `${long}a`,
      "a".repeat(4_097),
      `${long}\\a`,
      `javascript:${"a".repeat(4_096)}`,
    ]),
    ...refusedAs("invalid", [...spaced(), ...NO_URLS]),
    ...refusedAs("scheme", SCHEMES),
    ...refusedAs(
      "credentials",
      around(CREDENTIALS.filter((text) => !text.includes(":443") && !text.includes("99999"))),
    ),
    ...refusedAs(
      "credentials",
      CREDENTIALS.map((authority) => `https://${authority}/x`),
    ),
    ...refusedAs("ip_host", around(IP_HOSTS)),
    ...refusedAs("local_host", around(LOCAL_HOSTS)),
    ...refusedAs("bad_host", around(BAD_HOSTS)),
    ...refusedAs(
      "bad_host",
      BAD_PORTS.flatMap((port) => [`https://shop.example${port}`, `http://shop.example${port}/x`]),
    ),
    ...refusedAs(
      "not_allowed",
      around([
        "evil.test",
        "example.evil.test",
        "shop.example.evil.test",
        "notexample.test",
        "shop-example.test",
        "myshop.com",
        "shop.com.evil.test",
        "co.uk",
      ]),
    ),
  ];
}
