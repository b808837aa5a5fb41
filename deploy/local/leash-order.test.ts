import { expect, test } from "vitest";
import { type LeashOrder, readLeashOrder } from "./leash-order.ts";

const ORDER: LeashOrder = {
  command: "/bin/server",
  args: ["--port", "1"],
  account: { uid: 1, gid: 2 },
  recordFile: "/data/server.json",
  stopSignal: "SIGTERM",
  deadlineMs: 1_000,
  forceSignal: "SIGKILL",
};

test("a leash reads the order that the launcher wrote, with and without an account", () => {
  for (const order of [ORDER, { ...ORDER, account: undefined }])
    expect(readLeashOrder(JSON.stringify(order))).toEqual(order);
});

test.each([
  ["no object", null],
  ["no command", { ...ORDER, command: undefined }],
  ["an argument that is no text", { ...ORDER, args: ["--port", 1] }],
  ["an account without a group", { ...ORDER, account: { uid: 1 } }],
  ["no record file", { ...ORDER, recordFile: undefined }],
  ["a signal that does not stop", { ...ORDER, stopSignal: "SIGHUP" }],
  ["no deadline", { ...ORDER, deadlineMs: 0 }],
])("a leash refuses an order with %s", (_fault, order) => {
  expect(() => readLeashOrder(JSON.stringify(order))).toThrow("not the order of a leash");
});
