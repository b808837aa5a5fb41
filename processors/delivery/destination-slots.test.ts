import { expect, test } from "vitest";
import { DestinationSlots, SLOTS_A_DESTINATION, SLOTS_MAX } from "./destination-slots.ts";

const freeOf = (slots: DestinationSlots, name: string): number => {
  const { destinations, free } = slots.limited();
  return free[destinations.indexOf(name)] ?? SLOTS_A_DESTINATION;
};

test("P23: a destination that answers has its slots, and gives back what it took", () => {
  const slots = new DestinationSlots();
  for (let i = 0; i < SLOTS_A_DESTINATION; i += 1) slots.take("a");
  expect([freeOf(slots, "a"), freeOf(slots, "b"), slots.free]).toEqual([
    0,
    SLOTS_A_DESTINATION,
    SLOTS_MAX - SLOTS_A_DESTINATION,
  ]);
  expect(slots.give("a", { isInTime: true })).toBe(true);
  expect(slots.give("a", { isInTime: true })).toBe(false);
  for (let i = 2; i < SLOTS_A_DESTINATION; i += 1) slots.give("a", { isInTime: true });
  expect([slots.underWay, slots.limited().destinations]).toEqual([0, []]);
});

test("P23: one that hangs is left one slot, and gets them back as it answers", () => {
  const slots = new DestinationSlots();
  for (let i = 0; i < 10; i += 1) {
    slots.take("a");
    slots.give("a", { isInTime: false });
  }
  expect(freeOf(slots, "a")).toBe(1);
  for (let i = 1; i < SLOTS_A_DESTINATION; i += 1) {
    slots.take("a");
    slots.give("a", { isInTime: true });
  }
  expect(slots.limited().destinations).toEqual([]);
});

test("what is remembered of destinations is bounded", () => {
  const slots = new DestinationSlots();
  for (let i = 0; i < 10 * SLOTS_MAX; i += 1) {
    slots.take(`host-${i}`);
    slots.give(`host-${i}`, { isInTime: false });
  }
  expect(slots.limited().destinations.length).toBeLessThanOrEqual(2 * SLOTS_MAX);
  expect(slots.free).toBe(SLOTS_MAX);
});
