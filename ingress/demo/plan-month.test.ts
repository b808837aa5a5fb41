import { expect, test } from "vitest";
import type { GeoReader } from "../request/geo.ts";
import { PlannedMonth } from "./plan-month.ts";

const COUNTRIES = ["DE", "AT", "CH", "NL", "FR", "ES", "PL", "GB", "US", "CA", "BR", "IN"];
const END_MS = Date.UTC(2026, 10, 25, 9, 30);
const HOUR_MS = 3_600_000;

/** Places an address by its last byte. */
const geo: GeoReader = {
  locate: (ip) => {
    const last = Number(ip.split(".")[3]);
    const country = COUNTRIES[last % COUNTRIES.length] ?? "";
    return { country, region: "", city: "", asn: 1, asName: "", isDatacenter: last > 240 };
  },
};

const month = new PlannedMonth(END_MS, geo);
const parts = Array.from({ length: month.parts }, (_, part) => month.planPart(part));
const visits = parts.flatMap((part) => part.visits);
const clicks = visits.filter(({ isImpression }) => !isImpression);

test("the demo's month is the same at every run, and its parts do not depend on each other", () => {
  const again = new PlannedMonth(END_MS, geo);
  const [last] = parts.slice(-1);
  const { visits: same } = again.planPart(month.parts - 1);
  expect(same.map(({ atMs }) => atMs)).toEqual(last?.visits.map(({ atMs }) => atMs));
  expect(same.slice(0, 100)).toEqual(last?.visits.slice(0, 100));
});

test("the month covers 30 days up to its end, in the order of time, and nothing lies in the future", () => {
  const times = visits.map(({ atMs }) => atMs);
  expect(times.every((atMs, index) => index === 0 || atMs >= (times[index - 1] ?? 0))).toBe(true);
  expect(Math.max(...times)).toBeLessThan(END_MS);
  expect(new Set(times.map((atMs) => Math.floor(atMs / (24 * HOUR_MS)))).size).toBe(30);
  const reports = clicks.flatMap((click) => click.reports.map((report) => ({ click, report })));
  for (const { click, report } of reports) {
    expect(report.atMs).toBeGreaterThan(click.atMs);
    expect(report.atMs).toBeLessThan(END_MS);
  }
  expect(reports.length).toBeGreaterThan(500);
});

test("the traffic looks like that of people: nights are quiet, visitors return, some are bots", () => {
  expect(clicks.length).toBeGreaterThan(8_000);
  expect(clicks.length).toBeLessThan(25_000);
  const germanNight = clicks.filter(
    ({ atMs, visitor }) =>
      visitor.language.startsWith("de") && new Date(atMs + HOUR_MS).getUTCHours() < 6,
  );
  const german = clicks.filter(({ visitor }) => visitor.language.startsWith("de"));
  expect(germanNight.length / german.length).toBeLessThan(0.08);
  const people = new Set(clicks.map(({ visitor }) => `${visitor.address} ${visitor.userAgent}`));
  expect(people.size / clicks.length).toBeLessThan(0.95);
  expect(clicks.some(({ visitor }) => visitor.userAgent.includes("Googlebot"))).toBe(true);
});
