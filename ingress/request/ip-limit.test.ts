import { describe, expect, test } from "vitest";
import { IpLimit } from "./ip-limit.ts";

function passed(limit: IpLimit, ip: string, requests: number, nowMs: number): number {
  let count = 0;
  for (let i = 0; i < requests; i += 1) if (limit.take(ip, nowMs) === 0) count += 1;
  return count;
}

describe("an optional limit for each address (G152)", () => {
  test("a minute's worth passes at once, then as much as the elapsed time allows", () => {
    const limit = new IpLimit(60);
    expect(passed(limit, "192.0.2.1", 100, 0)).toBe(60);
    expect(passed(limit, "192.0.2.1", 100, 10_000)).toBe(10);
    expect(passed(limit, "192.0.2.1", 100, 1_000_000)).toBe(60);
  });

  test("another address is not affected", () => {
    const limit = new IpLimit(5);
    passed(limit, "192.0.2.1", 100, 0);
    expect(passed(limit, "192.0.2.2", 100, 0)).toBe(5);
  });

  test("it returns when the next one may pass, and then it passes", () => {
    const limit = new IpLimit(30);
    passed(limit, "192.0.2.1", 30, 0);
    const waitMs = limit.take("192.0.2.1", 0);
    expect(waitMs).toBe(2_000);
    expect(limit.take("192.0.2.1", waitMs)).toBe(0);
  });

  test("addresses of one /64 share a limit, those of other networks do not", () => {
    const limit = new IpLimit(2);
    expect(passed(limit, "2001:db8::1", 1, 0) + passed(limit, "2001:db8::ffff:2", 5, 0)).toBe(2);
    expect(passed(limit, "2001:db8:0:1::1", 5, 0)).toBe(2);
  });

  test("a clock that is set back neither fills nor empties", () => {
    const limit = new IpLimit(3);
    expect(passed(limit, "192.0.2.1", 2, 60_000)).toBe(2);
    expect(passed(limit, "192.0.2.1", 5, 0)).toBe(1);
  });

  test("any number of addresses takes bounded memory", () => {
    const limit = new IpLimit(1);
    for (let i = 0; i < 110_000; i += 1)
      limit.take(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 0);
    expect(limit.size).toBeLessThanOrEqual(100_000);
  });
});
