import { setImmediate as turnOfLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { ReportQueue } from "./report-queue.ts";

test("what a screen shows first goes before what stands below it, each in order", async () => {
  const queue = new ReportQueue(1);
  const order: string[] = [];
  const first = queue.take({ priority: "first" }, turnOfLoop);
  const rest = (["after", "first", "after", "first"] as const).map(
    async (priority, index) =>
      await queue.take({ priority }, async () => {
        order.push(`${priority} ${index}`);
        await turnOfLoop();
      }),
  );
  await Promise.all([first, ...rest]);
  expect(order).toEqual(["first 1", "first 3", "after 0", "after 2"]);
});

test("at most as many run as may, and one that fails or is no longer wanted gives its place on", async () => {
  const queue = new ReportQueue(2);
  let running = 0;
  let most = 0;
  const task = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await turnOfLoop();
    running -= 1;
    throw new Error("refused");
  };
  const unwanted = AbortSignal.abort(new Error("left"));
  const ends = await Promise.allSettled(
    [undefined, undefined, unwanted, undefined, undefined].map(
      async (signal) => await queue.take({ priority: "after", signal }, task),
    ),
  );
  expect(most).toBe(2);
  expect(ends.map((end) => (end.status === "rejected" ? String(end.reason) : ""))).toEqual([
    "Error: refused",
    "Error: refused",
    "Error: left",
    "Error: refused",
    "Error: refused",
  ]);
});
