import fc from "fast-check";
import { expect, test } from "vitest";
import type { Offer } from "../../schemas/catalog/records.ts";
import { aCatalog } from "../../test/samples/a-catalog.ts";
import { capBucket, LocalClickState } from "./click-state.ts";

const NOON = Date.UTC(2026, 5, 10, 12);

function anOffer(parts: Partial<Offer>): Offer {
  const offer = aCatalog({ offers: [parts] }).offers.get(1);
  if (offer === undefined) throw new Error("no offer");
  return offer;
}

const taker = (visitor: number, atMs = NOON) => ({ affiliateId: 1, visitor, atMs });

test("G39 a total told from outside never lowers what was counted here, and later clicks add to it", () => {
  const offer = anOffer({ caps: { clicks: { daily: 10 } } });
  const bucket = capBucket("daily", "UTC", NOON);
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined })),
      (steps) => {
        const state = new LocalClickState();
        let counted = 0;
        for (const total of steps) {
          if (total === undefined) state.taken(offer, "UTC", taker(1));
          else state.noteTotal({ offerId: 1, period: "daily", bucket, clicks: total });
          counted = total === undefined ? counted + 1 : Math.max(counted, total);
          expect(state.isCapReached(offer, "UTC", NOON)).toBe(counted >= 10);
        }
      },
    ),
  );
});

test("a total of a period that is over changes nothing", () => {
  const offer = anOffer({ caps: { clicks: { daily: 1 } } });
  const state = new LocalClickState();
  const today = capBucket("daily", "UTC", NOON);
  state.taken(offer, "UTC", taker(1));
  state.noteTotal({ offerId: 1, period: "daily", bucket: today - 1, clicks: 99 });
  expect(state.isCapReached(offer, "UTC", NOON)).toBe(true);
  expect(state.isCapReached(offer, "UTC", NOON + 86_400_000)).toBe(false);
});

test("each period begins where the workspace's clocks say", () => {
  const at = Date.UTC(2026, 0, 31, 18, 30);
  const before = at - 1;
  for (const period of ["hourly", "daily", "weekly", "monthly"] as const) {
    const crossed =
      capBucket(period, "Asia/Kolkata", at) !== capBucket(period, "Asia/Kolkata", before);
    // In Kolkata it is midnight from Saturday to Sunday, 1 February.
    expect(crossed, period).toBe(period !== "weekly");
  }
  expect(capBucket("weekly", "UTC", Date.UTC(2026, 5, 8))).not.toBe(
    capBucket("weekly", "UTC", Date.UTC(2026, 5, 7)),
  );
  expect(capBucket("total", "UTC", at)).toBe(capBucket("total", "UTC", 0));
});

test("the duplicates of another process are known once it has told them", () => {
  const offer = anOffer({ duplicate_click_seconds: 60 });
  const state = new LocalClickState();
  state.noteTaken(1, taker(7));
  expect(state.isDuplicate(offer, taker(7, NOON + 59_999))).toBe(true);
  expect(state.isDuplicate(offer, taker(7, NOON + 60_000))).toBe(false);
  expect(state.isDuplicate(offer, taker(8))).toBe(false);
});

test("visitors are forgotten, the oldest first, before they fill the memory", () => {
  const offer = anOffer({ duplicate_click_seconds: 3_600 });
  const state = new LocalClickState(1_000);
  for (let visitor = 0; visitor <= 1_000; visitor += 1) state.taken(offer, "UTC", taker(visitor));
  expect(state.isDuplicate(offer, taker(0))).toBe(false);
  expect(state.isDuplicate(offer, taker(1))).toBe(true);
  expect(state.isDuplicate(offer, taker(1_000))).toBe(true);
});
