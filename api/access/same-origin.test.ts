import { expect, test } from "vitest";
import { crossSiteRefusal, membershipOf, ownOrigins } from "./same-origin.ts";
import { SessionCookie } from "./session-cookie.ts";
import { SessionTokens } from "./session-tokens.ts";

test("on this machine every name of it is the API's own origin, elsewhere only its address", () => {
  expect([...ownOrigins("https://api.example:8443")]).toEqual(["https://api.example:8443"]);
  expect([...ownOrigins("http://127.0.0.1:8081")].toSorted()).toEqual([
    "http://127.0.0.1:8081",
    "http://[::1]:8081",
    "http://localhost:8081",
  ]);
});

test.each(["", "01", "-1", "1.0", " 1", "2147483648", "9999999999", "1,2", "x"])(
  "%j names no membership, so the cookie does not count",
  (given) => {
    const headers = { "x-tracker-membership": given, "sec-fetch-site": "same-origin" };
    expect(membershipOf(headers)).toBeUndefined();
    expect(crossSiteRefusal("GET", headers, new Set())).toBeDefined();
  },
);

test("a secret of a session that was not minted here is told apart by itself", () => {
  const tokens = new SessionTokens("secret of the installation");
  const token = tokens.mint();
  expect(tokens.isOwn(token)).toBe(true);
  expect(new SessionTokens("another secret").isOwn(token)).toBe(false);
  for (const wrong of ["", "x".repeat(64), token.slice(1), `${token}A`, `A${token.slice(1)}`])
    expect(wrong === token || !tokens.isOwn(wrong)).toBe(true);
});

test("a cookie of the same name that somebody else has set beside ours makes both void", () => {
  const cookie = new SessionCookie("http://127.0.0.1:8081");
  expect(cookie.read("a=1; trk_console=t; b=2")).toBe("t");
  expect(cookie.read("trk_console=t; trk_console=u")).toBeUndefined();
  expect(cookie.read("xtrk_console=t; TRK_CONSOLE=u")).toBeUndefined();
  expect(cookie.read(undefined)).toBeUndefined();
});

test.each([
  ["https://api.example", "api.example", true],
  ["http://127.0.0.1:8081", "127.0.0.1:8081", true],
  ["http://127.0.0.1:8081", "localhost:8081", true],
  ["http://127.0.0.1:8081", "192.168.1.7:8081", false],
  ["http://127.0.0.1:8081", undefined, false],
  ["http://192.168.1.7:8081", "192.168.1.7:8081", false],
])("with %s, Host %s, sign-in is possible: %s", (apiUrl, host, isPossible) => {
  const cookie = new SessionCookie(apiUrl);
  expect(cookie.refusalAt(host) === undefined).toBe(isPossible);
});
