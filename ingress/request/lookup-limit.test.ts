import { expect, test } from "vitest";
import { parseTrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { RawRequest } from "../route.ts";
import { type Lookup, LookupLimit } from "./lookup-limit.ts";

const HEADERS = {
  host: "go.example",
  userAgent: "",
  referer: "",
  accept: "",
  acceptLanguage: "",
  xForwardedFor: "",
  xForwardedProto: "",
  via: "",
  cookie: "",
  contentType: "",
  origin: "",
  ifNoneMatch: "",
  idempotencyKey: "",
  xRequestId: "",
  purpose: "",
  secFetchDest: "",
};

function from(peerIp: string, xForwardedFor = ""): RawRequest {
  const headers = { ...HEADERS, xForwardedFor };
  return { method: "GET", path: "/px", query: "", peerIp, headers, requestId: "" };
}

function limitOf(perMinute: number, trusted: string[] = []): LookupLimit {
  const trustedProxies = parseTrustedProxies(trusted);
  return new LookupLimit({ perMinute, trustedProxies, clock: { nowMs: () => 1_000_000 } });
}

function taken(lookup: Lookup | number): Lookup {
  if (typeof lookup === "number") throw new Error(`refused for ${lookup} s`);
  return lookup;
}

test("look-ups that find nothing are bounded for each address, those that find a click are free (#16)", () => {
  const limit = limitOf(2);
  for (let times = 0; times < 100; times += 1) taken(limit.take(from("192.0.2.1"))).found();
  taken(limit.take(from("192.0.2.1")));
  taken(limit.take(from("192.0.2.1")));
  expect(limit.take(from("192.0.2.1"))).toBe(30);
  taken(limit.take(from("192.0.2.2")));
});

test("an IPv6 household is one address, and a trusted proxy may name another (#16)", () => {
  const limit = limitOf(1, ["10.0.0.0/8"]);
  taken(limit.take(from("2001:db8:0:1::1")));
  expect(limit.take(from("2001:db8:0:1:ffff::2"))).toBe(60);
  taken(limit.take(from("2001:db8:0:2::1")));
  taken(limit.take(from("10.0.0.1", "192.0.2.1")));
  taken(limit.take(from("10.0.0.1", "192.0.2.2")));
  expect(limit.take(from("10.0.0.2", "192.0.2.1"))).toBe(60);
  // Only a trusted proxy can name another address.
  taken(limit.take(from("198.51.100.1", "192.0.2.9")));
  expect(limit.take(from("198.51.100.1", "192.0.2.10"))).toBe(60);
});

test("0 means no limit", () => {
  const limit = limitOf(0);
  for (let times = 0; times < 1_000; times += 1)
    expect(limit.take(from("192.0.2.1"))).not.toBeTypeOf("number");
});
