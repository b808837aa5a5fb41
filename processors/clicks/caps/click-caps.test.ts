import fc from "fast-check";
import { expect, test } from "vitest";
import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { encodeBatch } from "../../../schemas/events/click-batch.ts";
import { Lanes } from "../../../schemas/events/lanes.ts";
import { aCatalog, apply } from "../../../test/samples/a-catalog.ts";
import { FOUR_LANES } from "../../../test/samples/four-lanes.ts";
import { Intake } from "../intake/intake.ts";
import { settle } from "../lane/load-positions.ts";
import { CLICK_TABLE } from "../rows/lane-table.ts";
import { ClickCaps, type CountedCap, type StoredClicks } from "./click-caps.ts";

const NOON = Date.UTC(2026, 5, 10, 12);
const DAY_MS = 86_400_000;
const TIMEZONE = "Asia/Kolkata";
const NEWS = { minor: true, whole: true };

type Click = {
  readonly offer_id: number;
  readonly ts: number;
  readonly status: string;
  readonly status_reason?: string;
};

/** A lane whose table is a list. */
class World {
  readonly catalog: Catalog;
  readonly intake: Intake;
  readonly accepted: Click[] = [];
  readonly stored: Click[] = [];
  #position = 0;

  constructor(catalog: Catalog) {
    this.catalog = catalog;
    const nothing = (): void => undefined;
    this.intake = new Intake({
      lane: 0,
      table: CLICK_TABLE,
      catalog,
      clock: { nowMs: () => NOON },
      events: {
        undecodable: nothing,
        unreadable: nothing,
        lost: nothing,
        hole: nothing,
        repeated: nothing,
        visitsForgotten: nothing,
        foreign: nothing,
        refused: nothing,
      },
    });
  }

  get caps(): ClickCaps {
    return this.intake.caps;
  }

  take(...clicks: Click[]): void {
    const lines = clicks.map((click, index) =>
      JSON.stringify({ click_id: String(this.#position + index).padStart(32, "0"), ...click }),
    );
    const head = { producer: 1, epoch: 1, lane: 0, first: this.#position, at: NOON };
    this.intake.take(encodeBatch({ ...head, lines }), { ack: () => undefined }, 0);
    this.#position += clicks.length;
    this.accepted.push(...clicks);
  }

  store(): void {
    settle(this.intake, this.intake.sealFirst());
    this.intake.dropFirst(0);
    this.stored.push(...this.accepted.slice(this.stored.length));
  }

  load(nowMs = NOON): void {
    this.caps.follow(this.catalog, FOUR_LANES);
    this.caps.load(
      new Map(this.caps.unloaded.map((cap) => [cap.name, storedOf(this.stored, cap)])),
      { batches: this.intake.batches, nowMs },
    );
  }

  totals(nowMs = NOON): Record<string, number> {
    const news = this.caps.totalsToReport(nowMs, NEWS);
    return Object.fromEntries(news.map(({ cap, clicks }) => [cap, clicks]));
  }
}

function isTaken({ status, status_reason: reason }: Click): boolean {
  return status === "redirect" && reason !== "duplicate";
}

function storedOf(
  table: readonly Click[],
  { period, timezone, offers }: CountedCap,
): StoredClicks[] {
  return table
    .filter((click) => isTaken(click) && offers.has(click.offer_id))
    .map(({ offer_id: offerId, ts }) => ({
      offerId,
      bucket: capBucket(period, timezone, ts),
      clicks: 1,
    }));
}

function aCappedCatalog(): Catalog {
  return aCatalog({
    workspaces: [{ timezone: TIMEZONE }],
    advertisers: [{}, { budget_caps: { clicks: { monthly: 50 } } }],
    offers: [
      { id: 4, code: "A", caps: { clicks: { daily: 5, total: 20 } } },
      { id: 8, code: "B", caps: { clicks: { hourly: 3 } }, advertiser_id: 2 },
      { id: 12, code: "C" },
      { id: 5, code: "OTHER-LANE", caps: { clicks: { total: 1 } } },
    ],
    groups: [{ offer_ids: [4, 12, 5], caps: { clicks: { weekly: 9 } } }],
  });
}

const aClick = fc.record({
  offer_id: fc.constantFrom(4, 8, 12, 16),
  // In Kolkata, yesterday begins earlier than the day that the test calls today.
  ts: fc.constantFrom(NOON - DAY_MS, NOON - 3_600_000, NOON, NOON + 60_000),
  status: fc.constantFrom("redirect", "redirect", "fallback"),
  status_reason: fc.constantFrom("", "cap_over", "duplicate"),
});

test("totals include all accepted clicks, stored or not, whenever counting began (CLKS-012)", () => {
  const step = fc.oneof(
    fc.record({ take: fc.array(aClick, { minLength: 1, maxLength: 6 }) }),
    fc.constantFrom("store", "load", "forget"),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const world = new World(aCappedCatalog());
      for (const todo of steps) {
        if (typeof todo === "object") world.take(...todo.take);
        else if (todo === "store") world.store();
        else if (todo === "load") world.load();
        else world.caps.unload();
      }
      world.load();
      const of = (offers: readonly number[], period: CountedCap["period"]): number =>
        world.accepted.filter(
          (click) =>
            isTaken(click) &&
            offers.includes(click.offer_id) &&
            capBucket(period, TIMEZONE, click.ts) === capBucket(period, TIMEZONE, NOON),
        ).length;
      const expected = {
        "offer/4/clicks/daily": of([4], "daily"),
        "offer/4/clicks/total": of([4], "total"),
        "offer/8/clicks/hourly": of([8], "hourly"),
        "advertiser/2/clicks/monthly": of([8], "monthly"),
        "group/1/clicks/weekly": of([4, 12], "weekly"),
      };
      const nonZero = Object.entries(expected).filter(([, clicks]) => clicks > 0);
      expect(world.totals()).toEqual(Object.fromEntries(nonZero));
    }),
    { numRuns: 25 },
  );
});

test("a clock ahead of midnight takes no click from the day before", () => {
  const world = new World(aCappedCatalog());
  world.load();
  const midnight = Date.UTC(2026, 5, 10, 18, 30);
  const click = { offer_id: 4, status: "redirect" };
  world.take({ ...click, ts: midnight - 5_000 }, { ...click, ts: midnight + 5_000 });
  world.take({ ...click, ts: midnight - 4_000 }, { ...click, ts: midnight - 2 * DAY_MS });
  expect(world.totals(midnight - 1)["offer/4/clicks/daily"]).toBe(2);
  expect(world.totals(midnight)["offer/4/clicks/daily"]).toBe(1);
  expect(world.totals(midnight)["offer/4/clicks/total"]).toBe(4);
});

test("clicks from a clock that was ahead hide no total of today, and count when their day comes (#11, G39)", () => {
  const world = new World(aCappedCatalog());
  world.load();
  const click = { offer_id: 4, status: "redirect" };
  const days = [0, 2, 30, 3, 0, 31, 0];
  for (const day of days) {
    world.totals(NOON + day * DAY_MS);
    world.load(NOON + day * DAY_MS);
    world.take({ ...click, ts: NOON + day * DAY_MS });
  }
  for (const day of [0, 1, 2, 3, 30, 31, 30, 0]) {
    world.totals(NOON + day * DAY_MS);
    world.load(NOON + day * DAY_MS);
    const expected = days.filter((other) => other === day).length;
    const name = "offer/4/clicks/daily";
    expect([day, world.totals(NOON + day * DAY_MS)[name] ?? 0]).toEqual([day, expected]);
  }
});

test("a reached limit is reported at once, other totals in their round, and none twice", () => {
  const world = new World(aCappedCatalog());
  world.load();
  const click = { offer_id: 8, ts: NOON, status: "redirect" };
  const news = (minor: boolean): string[] =>
    world.caps
      .totalsToReport(NOON, { minor, whole: false })
      .map(({ cap, clicks }) => `${cap} ${clicks}`);
  world.take(click, click);
  expect([world.caps.hasReached, news(false)]).toEqual([false, []]);
  expect(news(true).toSorted()).toEqual([
    "advertiser/2/clicks/monthly 2",
    "offer/8/clicks/hourly 2",
  ]);
  expect(news(true)).toEqual([]);
  world.take(click);
  expect([world.caps.hasReached, news(false)]).toEqual([true, ["offer/8/clicks/hourly 3"]]);
  expect(world.caps.hasReached).toBe(false);
  world.take(click);
  expect(news(false)).toEqual([]);
});

test("a raised cap keeps its count; a cap with other offers or another time zone is counted again", () => {
  const world = new World(aCappedCatalog());
  world.load();
  world.take({ offer_id: 4, ts: NOON, status: "redirect" });
  const isKnown = (change: Parameters<typeof apply>[1]): string[] => {
    apply(world.catalog, change);
    world.caps.follow(world.catalog, FOUR_LANES);
    const names = world.caps.unloaded.map(({ name }) => name);
    world.load();
    return names;
  };
  const offer = { id: 4, code: "A" };
  expect(isKnown({ offers: [{ ...offer, caps: { clicks: { daily: 50, total: 20 } } }] })).toEqual(
    [],
  );
  expect(world.totals()["offer/4/clicks/daily"]).toBe(1);
  const group = { offer_ids: [4, 8], caps: { clicks: { weekly: 9 } } };
  expect(isKnown({ groups: [group] })).toEqual(["group/1/clicks/weekly"]);
  expect(isKnown({ workspaces: [{ timezone: "UTC" }] })).toHaveLength(5);
  expect(world.totals()["group/1/clicks/weekly"]).toBe(1);
});

test("totals keep the number of lanes under which they were counted until they follow the lane's new share", () => {
  const catalog = aCappedCatalog();
  const caps = new ClickCaps(0);
  const offers = (): number[] => {
    const all = new Set(caps.unloaded.flatMap((cap) => [...cap.offers.keys()]));
    return [...all].toSorted((a, b) => a - b);
  };
  caps.follow(catalog, FOUR_LANES);
  expect([caps.lanes, offers()]).toEqual([4, [4, 8, 12]]);
  // Offers 4 and 12 are in lane 4 of eight.
  caps.follow(catalog, new Lanes(8));
  expect([caps.lanes, offers()]).toEqual([8, [8]]);
});
