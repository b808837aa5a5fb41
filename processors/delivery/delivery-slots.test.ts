import { expect, test } from "vitest";
import {
  DeliverySlots,
  type Endpoint,
  type Grant,
  SLOTS_MAX,
  SLOTS_PER_ENDPOINT,
  SLOTS_PER_HOST,
  SLOW_AFTER_MS,
  type Slot,
} from "./delivery-slots.ts";

const endpoint = (endpoint_id: number, destination = "a.example"): Endpoint => ({
  kind: "postback",
  endpoint_id,
  destination,
});
const endpoints = (count: number, destination = "a.example", from = 0): Endpoint[] =>
  Array.from({ length: count }, (_, n) => endpoint(from + n, destination));

/** Grants and takes slots at once, as if each endpoint had a large backlog. Returns the slots. */
function takeAll(slots: DeliverySlots, due: readonly Endpoint[], nowMs = 0): Slot[] {
  const grants = slots.grant(due, { rowsMax: SLOTS_MAX, nowMs });
  return grants.flatMap((grant) =>
    Array.from({ length: grant.rows }, () => slots.take(grant, nowMs)),
  );
}
const rowsOf = (grants: readonly Grant[]): number =>
  grants.reduce((sum, { rows }) => sum + rows, 0);
const late = (slots: DeliverySlots, taken: readonly Slot[]): void => {
  for (const slot of taken) slots.release(slot, { isInTime: false });
};

test("an endpoint that answers has 8 slots and returns each after use (G204)", () => {
  const slots = new DeliverySlots();
  const taken = takeAll(slots, [endpoint(1)]);
  expect(taken).toHaveLength(SLOTS_PER_ENDPOINT);
  expect(takeAll(slots, [endpoint(1)])).toEqual([]);
  const [first, ...others] = taken;
  if (first === undefined) throw new Error("nothing was taken");
  expect(slots.release(first, { isInTime: true })).toBe(true);
  expect(others.map((slot) => slots.release(slot, { isInTime: true }))).not.toContain(true);
  expect([slots.underWay, slots.free]).toEqual([0, SLOTS_MAX]);
});

test("an endpoint that does not answer falls to one slot and grows back with answers (#20, G204)", () => {
  const slots = new DeliverySlots();
  const [first, ...others] = takeAll(slots, [endpoint(1)]);
  if (first === undefined) throw new Error("nothing was taken");
  late(slots, [first]);
  // Four slots are left, and seven requests are under way.
  expect(takeAll(slots, [endpoint(1)])).toEqual([]);
  late(slots, others);
  for (let n = 0; n < 3; n += 1) {
    const taken = takeAll(slots, [endpoint(1)]);
    expect(taken).toHaveLength(1);
    late(slots, taken);
  }
  const grown: number[] = [];
  for (let n = 0; n < SLOTS_PER_ENDPOINT; n += 1) {
    slots.release(slots.take(endpoint(1), 0), { isInTime: true });
    grown.push(rowsOf(slots.grant([endpoint(1)], { rowsMax: SLOTS_MAX, nowMs: 0 })));
  }
  expect(grown).toEqual([2, 3, 4, 5, 6, 7, 8, 8]);
});

test("a postback and a webhook with the same id are two endpoints (#20, G204)", () => {
  const slots = new DeliverySlots();
  takeAll(slots, [endpoint(1)]);
  expect(takeAll(slots, [{ ...endpoint(1), kind: "webhook" }])).toHaveLength(SLOTS_PER_ENDPOINT);
});

test("a host has 64 slots, the last quarter for first requests only (#20, G204)", () => {
  const slots = new DeliverySlots();
  expect(takeAll(slots, endpoints(10))).toHaveLength(48);
  expect(takeAll(slots, endpoints(100, "a.example", 10))).toHaveLength(SLOTS_PER_HOST - 48);
  expect(takeAll(slots, [endpoint(200)])).toEqual([]);
  expect(takeAll(slots, [endpoint(201, "b.example")])).toHaveLength(SLOTS_PER_ENDPOINT);
});

test("slots of a host go to the endpoints with the fewest requests under way (#20, G204)", () => {
  const slots = new DeliverySlots();
  takeAll(slots, [endpoint(1), endpoint(2)]);
  const grants = slots.grant(endpoints(32), { rowsMax: SLOTS_MAX, nowMs: 0 });
  // 48 - 16 slots are left for 30 endpoints: one each, and a second one for two of them.
  expect(grants).toHaveLength(30);
  expect(grants.map(({ rows }) => rows).toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 28 }, () => 1),
    2,
    2,
  ]);
});

test("endpoints that do not answer get half of their host, however many they are (#20, G204)", () => {
  const slots = new DeliverySlots();
  const hanging = endpoints(100);
  for (const one of hanging) late(slots, [slots.take(one, 0)]);
  expect(takeAll(slots, hanging)).toHaveLength(SLOTS_PER_HOST / 2);
  expect(takeAll(slots, [endpoint(200)])).toHaveLength(SLOTS_PER_ENDPOINT);
});

test("an endpoint is slow as soon as a request has waited for half a second (#20, G204)", () => {
  const slots = new DeliverySlots();
  const hanging = endpoints(40);
  expect(takeAll(slots, hanging.slice(0, 4))).toHaveLength(32);
  const soonEnough = slots.grant(hanging.slice(4), { rowsMax: 8, nowMs: SLOW_AFTER_MS - 1 });
  expect(rowsOf(soonEnough)).toBe(8);
  for (const one of hanging.slice(4, 8)) slots.take(one, 0);
  const slow = hanging.slice(0, 8);
  expect(slots.grant(slow, { rowsMax: 8, nowMs: SLOW_AFTER_MS })).toEqual([]);
  expect(slots.grant([endpoint(200)], { rowsMax: 8, nowMs: SLOW_AFTER_MS })).toHaveLength(1);
});

test("the process has 512 slots, half of them for endpoints that do not answer (G204)", () => {
  const slots = new DeliverySlots();
  const hanging = Array.from({ length: 600 }, (_, n) => endpoint(n, `host-${n}`));
  for (const one of hanging) late(slots, [slots.take(one, 0)]);
  expect(takeAll(slots, hanging)).toHaveLength(SLOTS_MAX / 2);
  const others = Array.from({ length: 600 }, (_, n) => endpoint(1_000 + n, `other-${n}`));
  const taken = takeAll(slots, others);
  expect([taken.length, slots.free]).toEqual([SLOTS_MAX / 2, 0]);
  const [one] = taken;
  if (one === undefined) throw new Error("nothing was taken");
  expect(slots.release(one, { isInTime: true })).toBe(false);
  expect(slots.grant(others, { rowsMax: 200, nowMs: 0 })).toHaveLength(1);
});

test("no more is granted than requested, and the memory of endpoints is bounded", () => {
  const slots = new DeliverySlots();
  expect(rowsOf(slots.grant(endpoints(50), { rowsMax: 5, nowMs: 0 }))).toBe(5);
  const many = endpoints(20_000);
  for (const one of many) late(slots, [slots.take(one, 0)]);
  const [first, last] = [many.slice(0, 1), many.slice(-1)];
  // The first ones are forgotten and have all their slots again.
  expect(rowsOf(slots.grant(first, { rowsMax: 8, nowMs: 0 }))).toBe(8);
  expect(rowsOf(slots.grant(last, { rowsMax: 8, nowMs: 0 }))).toBe(4);
});
