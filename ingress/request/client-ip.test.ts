import { expect, test } from "vitest";
import { parseTrustedProxies } from "../../schemas/net/forwarded-for.ts";
import { aRequest } from "../../test/samples/a-request.ts";
import { clientOf, isHttps, rememberHops } from "./client-ip.ts";

const trusted = rememberHops(parseTrustedProxies(["10.0.0.0/8"]));

test("a remembered hop gets the same answer as the first time", () => {
  const chain = { headers: { xForwardedFor: "198.51.100.1, 203.0.113.9" } };
  for (let times = 0; times < 3; times += 1) {
    const forwarded = clientOf(aRequest({ peerIp: "10.0.0.1", ...chain }), trusted);
    expect(forwarded).toEqual({ ip: "203.0.113.9", isForwarded: true });
    const direct = clientOf(aRequest({ peerIp: "203.0.113.9", ...chain }), trusted);
    expect(direct).toEqual({ ip: "203.0.113.9", isForwarded: true });
  }
});

test("X-Forwarded-Proto counts only from a trusted proxy", () => {
  const headers = { xForwardedProto: "https" };
  expect(isHttps(aRequest({ peerIp: "10.0.0.1", headers }), trusted)).toBe(true);
  expect(isHttps(aRequest({ peerIp: "203.0.113.9", headers }), trusted)).toBe(false);
});
