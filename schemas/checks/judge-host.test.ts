import { expect, test } from "vitest";
import type { FxFeed } from "../postgres/fx-feed.ts";
import type { Judgement } from "./finding.ts";
import {
  judgeClock,
  judgeDisk,
  judgeOpenFiles,
  judgePostgresVersion,
  judgeRates,
  judgeTls,
  judgeTuning,
} from "./judge-host.ts";

/** The weights of the faults, else what a passed check says. */
function said({ faults, well = "" }: Judgement): string {
  return faults.length === 0 ? well : faults.map(({ weight }) => weight).join();
}

const FEED: FxFeed = {
  state: "ok",
  attempted_at: null,
  succeeded_at: null,
  newest_day: null,
  error: "",
  source: "www.ecb.europa.eu",
};

test("doctor says the state of the reference rates, and what to do without internet (G221)", () => {
  expect(said(judgeRates({ ...FEED, newest_day: "2026-11-27" }))).toBe(
    "www.ecb.europa.eu was read, its newest day is 2026-11-27",
  );
  const [failed] = judgeRates({ ...FEED, state: "failed", error: "getaddrinfo ENOTFOUND" }).faults;
  expect(failed?.weight).toBe("warns");
  expect(failed?.sentence).toMatch(/ENOTFOUND.*FX_FEED_URL=off.*tracker fx-rates set/);
  expect(judgeRates({ ...FEED, state: "off" }).faults).toEqual([]);
  expect(said(judgeRates({ ...FEED, state: "unread" }))).toBe("warns");
});

test.each([
  [
    "a disk with room",
    judgeDisk({ disk: { folder: "/d", freeShare: 0.2 } }),
    /^20 % .*\/d is free/,
  ],
  ["a disk that fills", judgeDisk({ disk: { folder: "/d", freeShare: 0.14 } }), /^warns$/],
  ["a full disk", judgeDisk({ disk: { folder: "/d", freeShare: 0.04 } }), /^refuses$/],
  ["a host without a folder", judgeDisk({ disk: undefined }), /no folder/],
  ["enough open files", judgeOpenFiles({ openFiles: "65536" }), /65536/],
  ["no limit of open files", judgeOpenFiles({ openFiles: "unlimited" }), /unlimited/],
  ["few open files", judgeOpenFiles({ openFiles: "1024" }), /^warns$/],
  ["a limit nobody can read", judgeOpenFiles({ openFiles: undefined }), /^warns$/],
  ["an old Postgres", judgePostgresVersion({ version: "14.9", awayMs: 0 }), /^warns$/],
  ["a new Postgres", judgePostgresVersion({ version: "18.0", awayMs: 0 }), /^18.0$/],
  ["a right clock", judgeClock({ version: "", awayMs: 200 }), /200 ms/],
  ["a clock that is off", judgeClock({ version: "", awayMs: 201 }), /^warns$/],
  ["a wrong clock", judgeClock({ version: "", awayMs: 2_001 }), /^refuses$/],
  ["plain connections", judgeTls({ plain: new Map([["NATS_URL", ["b:4222"]]]) }), /^warns$/],
])("doctor judges %s (P35)", (_what, judgement, expected) => {
  expect(said(judgement)).toMatch(expected);
});

test.each([
  [{ least: 10 }, "10", "is 10"],
  [{ least: 10 }, "9", "warns"],
  [{ most: 1 }, "1", "is 1"],
  [{ most: 1 }, "60", "warns"],
  [{ most: 1 }, undefined, "warns"],
])("doctor judges a kernel setting of %j that is %s (P35)", (bound, value, expected) => {
  const tuning = { name: "vm.x", why: "a reason", ...bound };
  expect(said(judgeTuning(tuning, { kernel: () => value }))).toBe(expected);
});
