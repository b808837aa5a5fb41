import fc from "fast-check";
import { expect, test } from "vitest";
import { capBucket } from "../../schemas/catalog/cap-bucket.ts";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { Caps, Offer } from "../../schemas/catalog/records.ts";
import { aCatalog, apply, type CatalogParts } from "../../test/samples/a-catalog.ts";
import { type CapCondition, type ClickStateLimits, LocalClickState } from "./click-state.ts";

const NOON = Date.UTC(2026, 5, 10, 12);
const DAY_MS = 86_400_000;
const TODAY = capBucket("daily", "UTC", NOON);

type World = {
  readonly state: LocalClickState;
  readonly catalog: Catalog;
  readonly offer: (id?: number) => Offer;
  readonly condition: (id?: number, atMs?: number) => CapCondition;
  readonly take: (id?: number, atMs?: number) => void;
};

function aWorld(parts: CatalogParts, limits: Partial<ClickStateLimits> = {}): World {
  const catalog = aCatalog(parts);
  const state = new LocalClickState(catalog, limits);
  const offer = (id = 1): Offer => {
    const found = catalog.offers.get(id);
    if (found === undefined) throw new Error(`no offer ${id}`);
    return found;
  };
  return {
    state,
    catalog,
    offer,
    condition: (id, atMs = NOON) => state.capCondition(offer(id), "UTC", atMs),
    take: (id, atMs = NOON) => state.taken(offer(id), "UTC", visit(1, atMs)),
  };
}

function visit(
  visitor: number,
  atMs = NOON,
): { affiliateId: number; visitor: number; atMs: number; isUnseen: boolean } {
  return { affiliateId: 1, visitor, atMs, isUnseen: false };
}

const TOTAL = "offer/1/clicks/daily";

test("a reported total never lowers what was counted here, and later clicks add to it (G39)", () => {
  const parts = { offers: [{ caps: { clicks: { daily: 10 } } }] };
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined })),
      (steps) => {
        const { state, condition, take } = aWorld(parts);
        let counted = 0;
        for (const clicks of steps) {
          if (clicks === undefined) take();
          else state.noteTotal(0, { cap: TOTAL, bucket: TODAY, clicks });
          counted = clicks === undefined ? counted + 1 : Math.max(counted, clicks);
          expect(condition()).toBe(counted >= 10 ? "cap" : "");
        }
      },
    ),
  );
});

test("totals of all processes, in any order and repeated, stop no click too early or too late (CLKS-012)", () => {
  const parts = { offers: [{ caps: { clicks: { daily: 20 } } }] };
  // Each step is a click on one of two processes, or a total of an earlier moment reported to one of them.
  const step = fc.record({ process: fc.nat({ max: 1 }), lateBy: fc.option(fc.nat({ max: 6 })) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const processes = [aWorld(parts), aWorld(parts)];
      const passedBy = [0, 0];
      const refusedAt: number[] = [];
      let passed = 0;
      for (const { process, lateBy } of steps) {
        const world = processes[process];
        if (world === undefined) continue;
        if (lateBy !== null) {
          const clicks = Math.max(0, passed - lateBy);
          world.state.noteTotal(1, { cap: TOTAL, bucket: TODAY, clicks });
        } else if (world.condition() === "") {
          world.take();
          passed += 1;
          passedBy[process] = (passedBy[process] ?? 0) + 1;
        } else refusedAt.push(passed);
      }
      // No process lets more through than the cap, and none refuses a click while there is room.
      expect(Math.max(...passedBy)).toBeLessThanOrEqual(20);
      expect(Math.min(20, ...refusedAt)).toBe(20);
      for (const { state, condition } of processes) {
        state.noteTotal(1, { cap: TOTAL, bucket: TODAY, clicks: passed });
        expect(condition()).toBe(passed >= 20 ? "cap" : "");
      }
    }),
  );
});

test("a total of another day changes nothing, whether its writer's clock is behind or ahead", () => {
  for (const days of [-1, 1]) {
    const { state, condition, take } = aWorld({ offers: [{ caps: { clicks: { daily: 2 } } }] });
    take();
    state.noteTotal(0, { cap: TOTAL, bucket: TODAY + days, clicks: 99 });
    expect(condition()).toBe("");
    take();
    expect(condition()).toBe("cap");
    expect(condition(1, NOON + DAY_MS)).toBe(days === 1 ? "cap" : "");
  }
});

test("a group's clicks are those of its offers in all lanes, and an advertiser's of all its offers (G105)", () => {
  const caps: Caps = { clicks: { total: 6 } };
  const owners = {
    group: { groups: [{ offer_ids: [1, 2], caps }] },
    advertiser: { advertisers: [{ budget_caps: caps }] },
  };
  for (const [owner, parts] of Object.entries(owners)) {
    const world = aWorld({
      offers: [{}, { code: "TWO" }, { code: "THREE", advertiser_id: 2 }],
      ...parts,
    });
    const cap = `${owner}/1/clicks/total`;
    world.state.noteTotal(1, { cap, bucket: 0, clicks: 2 });
    world.state.noteTotal(2, { cap, bucket: 0, clicks: 2 });
    world.state.noteTotal(2, { cap, bucket: 0, clicks: 1 });
    world.take(1);
    expect([world.condition(1), world.condition(2)], owner).toEqual(["", ""]);
    world.take(2);
    world.take(3);
    expect(
      [1, 2, 3].map((id) => world.condition(id)),
      owner,
    ).toEqual(["cap", "cap", ""]);
  }
});

test("only a cap that may stop a click stops it, whichever record it belongs to (G40)", () => {
  const alert: Caps = { conversions: { daily: 1 }, alert_only: true };
  const stop: Caps = { conversions: { daily: 1 } };
  const reached = (cap: string): { cap: string; bucket: number; limit: string } => ({
    cap: `${cap}/conversions/daily`,
    bucket: TODAY,
    limit: "1",
  });
  const world = aWorld({
    offers: [{ caps: alert }],
    advertisers: [{ budget_caps: alert }],
    groups: [{ offer_ids: [1], caps: stop }],
  });
  expect(world.condition()).toBe("");
  world.state.noteReached(reached("advertiser/1"));
  expect(world.condition()).toBe("cap_over");
  world.state.noteReached(reached("offer/1"));
  expect(world.condition()).toBe("cap_over");
  world.state.noteReached(reached("group/1"));
  expect(world.condition()).toBe("cap");
});

test("a visitor is no duplicate of a click with a clock that was an hour ahead (#11, G145)", () => {
  const world = aWorld({ offers: [{ duplicate_click_seconds: 60 }] });
  world.take(1, NOON + 3_600_000);
  expect(world.state.isDuplicate(world.offer(), visit(1))).toBe(false);
  world.take();
  expect(world.state.isDuplicate(world.offer(), visit(1, NOON + 1_000))).toBe(true);
});

test("a full cap stays full through a clock that was a day ahead, with reports meanwhile (#11, G39)", () => {
  const { state, condition, take } = aWorld({ offers: [{ caps: { clicks: { daily: 3 } } }] });
  for (let click = 0; click < 3; click += 1) take();
  take(1, NOON + DAY_MS);
  state.noteTotal(0, { cap: TOTAL, bucket: TODAY + 1, clicks: 1 });
  expect([condition(), condition(1, NOON + DAY_MS)]).toEqual(["cap", ""]);
  const kept = state.keep(10);
  const next = aWorld({ offers: [{ caps: { clicks: { daily: 3 } } }] });
  next.state.recall(kept);
  expect([next.condition(), next.condition(1, NOON + DAY_MS)]).toEqual(["cap", ""]);
});

test("totals of today count after totals of a clock that was a day ahead (#11, G39)", () => {
  const { state, condition } = aWorld({ offers: [{ caps: { clicks: { daily: 3 } } }] });
  state.noteTotal(0, { cap: TOTAL, bucket: TODAY + 1, clicks: 1 });
  state.noteTotal(0, { cap: TOTAL, bucket: TODAY, clicks: 3 });
  expect([condition(), condition(1, NOON + DAY_MS)]).toEqual(["cap", ""]);
});

test("a counter reached in the period of a clock that was ahead hides none reached today (#11, G40)", () => {
  const { state, condition } = aWorld({ offers: [{ caps: { conversions: { daily: 1 } } }] });
  const reached = { cap: "offer/1/conversions/daily", limit: "1" };
  state.noteReached({ ...reached, bucket: TODAY + 1 });
  state.noteReached({ ...reached, bucket: TODAY });
  expect([condition(), condition(1, NOON + DAY_MS)]).toEqual(["cap", "cap"]);
  expect(state.keep(10).reached).toHaveLength(2);
});

test("a duplicate of a click whose clock was ahead stays one no longer than the rule says (#11, G145)", () => {
  const world = aWorld({ offers: [{ duplicate_click_seconds: 3_600 }] });
  world.take(1, NOON + 1_800_000);
  const isDuplicate = (minute: number): boolean =>
    world.state.isDuplicate(world.offer(), visit(1, NOON + minute * 60_000));
  expect([0, 30, 59, 60].map(isDuplicate)).toEqual([true, true, true, false]);
});

test("a counter that was reached before Postgres was restored is open until it is reported again (#6)", () => {
  const world = aWorld({ offers: [{ caps: { payout: { daily: "50.0000" } } }] });
  const reached = { cap: "offer/1/payout/daily/USD", bucket: TODAY, limit: "50.0000" };
  world.state.noteReached(reached);
  expect(world.condition()).toBe("cap");
  world.catalog.noteRewind();
  expect(world.condition()).toBe("");
  world.state.noteReached(reached);
  expect(world.condition()).toBe("cap");
});

test("a cap that several whole rounds of reached caps lack is free again, and not before (G231)", () => {
  const { state, condition } = aWorld({ offers: [{ caps: { payout: { daily: "40.0000" } } }] });
  const reached = { cap: "offer/1/payout/daily/USD", bucket: TODAY, limit: "40.0000" };
  state.noteReached(reached);
  for (let round = 0; round < 5; round += 1) {
    state.noteReached(reached);
    state.noteRound();
  }
  expect(condition()).toBe("cap");
  // One round may be lost.
  state.noteRound();
  expect(condition()).toBe("cap");
  for (let round = 0; round < 3; round += 1) state.noteRound();
  expect(condition()).toBe("");
  expect(state.keep(10).reached).toEqual([]);
  state.noteReached(reached);
  expect(condition()).toBe("cap");
});

test("a reached counter holds for its limit, its currency and its period only (TRK-030)", () => {
  const world = aWorld({ offers: [{ caps: { payout: { daily: "50.0000" } } }] });
  const reached = { cap: "offer/1/payout/daily/USD", bucket: TODAY, limit: "50.0000" };
  world.state.noteReached({ ...reached, cap: "offer/1/payout/daily/EUR" });
  expect(world.condition()).toBe("");
  world.state.noteReached(reached);
  expect(world.condition()).toBe("cap");
  expect(world.condition(1, NOON + DAY_MS)).toBe("");
  apply(world.catalog, { offers: [{ caps: { payout: { daily: "80.0000" } } }] });
  expect(world.condition()).toBe("");
  // The report of the day before comes late: it must not hide today's.
  world.state.noteReached({ ...reached, limit: "80.0000" });
  world.state.noteReached({ ...reached, bucket: TODAY - 1 });
  expect(world.condition()).toBe("cap");
});

test("an added or removed cap is in force with the next version of the catalog", () => {
  const world = aWorld({ offers: [{}] });
  expect(world.condition()).toBe("");
  apply(world.catalog, { offers: [{ caps: { clicks: { total: 0 } } }] });
  expect(world.condition()).toBe("cap");
  apply(world.catalog, { offers: [{}] });
  expect(world.condition()).toBe("");
  apply(world.catalog, { groups: [{ offer_ids: [1], caps: { clicks: { total: 0 } } }] });
  expect(world.condition()).toBe("cap");
});

test("the duplicates of another process count once it has published them (TRK-035)", () => {
  const { state, offer } = aWorld({ offers: [{ duplicate_click_seconds: 60 }] });
  state.noteTaken([1, 1, 7, NOON]);
  expect(state.isDuplicate(offer(), visit(7, NOON + 59_999))).toBe(true);
  expect(state.isDuplicate(offer(), visit(7, NOON + 60_000))).toBe(false);
  expect(state.isDuplicate(offer(), visit(8))).toBe(false);
  // An older click that arrives later changes nothing.
  state.noteTaken([1, 1, 7, NOON - 60_000]);
  expect(state.isDuplicate(offer(), visit(7, NOON + 59_999))).toBe(true);
});

test("clicks on offers with the duplicate rule are published once; without NATS only the newest are kept", () => {
  const parts = { offers: [{ duplicate_click_seconds: 60 }, { code: "OFF" }] };
  const { state, take, offer } = aWorld(parts, { unpublishedMax: 100 });
  take(2);
  expect(state.takeUnpublished()).toEqual([]);
  take(1);
  expect(state.takeUnpublished()).toEqual([[1, 1, 1, NOON]]);
  expect(state.takeUnpublished()).toEqual([]);
  for (let visitor = 0; visitor < 1_000; visitor += 1) {
    state.taken(offer(), "UTC", visit(visitor));
  }
  const published = state.takeUnpublished();
  expect(published.length).toBeLessThanOrEqual(100);
  expect(published.at(-1)?.[2]).toBe(999);
  expect(published.length + state.unpublishedLost).toBe(1_000);
});

test("visitors are forgotten, the oldest first, before they fill the memory", () => {
  const parts = { offers: [{ duplicate_click_seconds: 3_600 }] };
  const { state, offer } = aWorld(parts, { visitorsMax: 1_000 });
  for (let visitor = 0; visitor <= 1_000; visitor += 1) {
    state.taken(offer(), "UTC", visit(visitor));
  }
  expect(state.isDuplicate(offer(), visit(0))).toBe(false);
  expect(state.isDuplicate(offer(), visit(1))).toBe(true);
  expect(state.isDuplicate(offer(), visit(1_000))).toBe(true);
});

test("reports on caps that do not exist do not fill the memory", () => {
  const parts = { offers: [{ caps: { conversions: { daily: 1 } } }] };
  const { state, condition } = aWorld(parts, { capsMax: 10 });
  for (let id = 0; id < 100; id += 1) {
    state.noteTotal(0, { cap: `offer/${id}/clicks/total`, bucket: 0, clicks: 1 });
    state.noteReached({ cap: `offer/${id}/conversions/total`, bucket: 0, limit: "1" });
  }
  state.noteReached({ cap: "offer/1/conversions/daily", bucket: TODAY, limit: "1" });
  expect(condition()).toBe("cap");
});

test("a lane that is split begins its total anew, and no click is counted twice or forgotten", () => {
  const world = aWorld({ groups: [{ offer_ids: [1], caps: { clicks: { total: 100 } } }] });
  const cap = "group/1/clicks/total";
  const clicks = (): number =>
    world.state.keep(10).totals.find((of) => of.cap === cap)?.clicks ?? 0;
  const total = (lane: number, count: number, lanes: number): void =>
    world.state.noteTotal(lane, { cap, bucket: 0, clicks: count }, lanes);
  total(0, 6, 4);
  total(1, 5, 4);
  expect(clicks()).toBe(11);
  // Lane 4 has the offers, and the earlier clicks, of half of lane 0.
  total(4, 2, 8);
  expect(clicks()).toBe(11);
  total(0, 4, 8);
  total(1, 5, 8);
  expect(clicks()).toBe(11);
  // Late, from before the split.
  total(0, 6, 4);
  total(4, 3, 8);
  expect(clicks()).toBe(12);
});
