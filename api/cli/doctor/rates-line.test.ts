import { expect, test } from "vitest";
import { ratesLine } from "./rates-line.ts";

const FEED = { attempted_at: null, succeeded_at: null, newest_day: null, error: "", source: "" };

test("doctor says the state of the reference rates, and what to do without internet (G221)", () => {
  const source = "www.ecb.europa.eu";
  const ok = ratesLine({ ...FEED, state: "ok", source, newest_day: "2026-11-27" });
  expect([ok.state, ok.text]).toEqual([
    "ok",
    "www.ecb.europa.eu was read, its newest day is 2026-11-27",
  ]);
  const failed = ratesLine({ ...FEED, state: "failed", source, error: "getaddrinfo ENOTFOUND" });
  expect(failed.state).toBe("warn");
  expect(failed.text).toMatch(/ENOTFOUND.*FX_FEED_URL=off.*tracker fx-rates set/);
  expect(ratesLine({ ...FEED, state: "off" })).toMatchObject({ state: "ok" });
  expect(ratesLine({ ...FEED, state: "unread" })).toMatchObject({ state: "warn" });
});
