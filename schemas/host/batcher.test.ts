import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Batcher, type BatcherOptions } from "./batcher.ts";

/** A store whose statements end when the test says so. */
function aStore(
  limits: Omit<BatcherOptions<number, string>, "flush" | "waitingMax"> & { waitingMax?: number },
) {
  const statements: { readonly asked: readonly number[]; readonly end: (fault?: Error) => void }[] =
    [];
  const shared = new Batcher<number, string>({
    waitingMax: 9,
    ...limits,
    flush: (asked) =>
      new Promise((resolve, reject) => {
        const answers = asked.map((one) => `answer ${one}`);
        const end = (fault?: Error): void => (fault ? reject(fault) : resolve(answers));
        statements.push({ asked, end });
      }),
  });
  return { shared, statements };
}

/** Until what the last step set off has run. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await turn();
}

test("what is asked while all statements are under way shares the next one (#16)", async () => {
  const { shared, statements } = aStore({ itemsMax: 3, flushesMax: 1 });
  const first = shared.ask(0);
  await turn();
  const others = [1, 2, 3, 4].map((one) => shared.ask(one));
  await turn();
  expect(statements.map(({ asked }) => asked)).toEqual([[0]]);
  statements[0]?.end();
  expect(await first).toBe("answer 0");
  await settled();
  statements[1]?.end();
  expect(await Promise.all(others.slice(0, 3))).toEqual(["answer 1", "answer 2", "answer 3"]);
  await settled();
  statements[2]?.end();
  expect(await others[3]).toBe("answer 4");
  expect(statements.map(({ asked }) => asked)).toEqual([[0], [1, 2, 3], [4]]);
});

test("a statement's place stays taken for its pause (#16)", async () => {
  const { shared, statements } = aStore({ itemsMax: 9, flushesMax: 1, restMs: 600_000 });
  const first = shared.ask(0);
  await turn();
  statements[0]?.end();
  expect(await first).toBe("answer 0");
  void shared.ask(1);
  await settled();
  expect(statements).toHaveLength(1);
});

test("a statement that fails fails for all who asked it, and the next one goes on", async () => {
  const { shared, statements } = aStore({ itemsMax: 2, flushesMax: 2 });
  const asked = [1, 2, 3, 4, 5].map((one) => shared.ask(one).catch((fault: unknown) => fault));
  await settled();
  expect(statements).toHaveLength(2);
  const fault = new Error("away");
  statements[0]?.end(fault);
  statements[1]?.end();
  expect(await Promise.all(asked.slice(0, 4))).toEqual([fault, fault, "answer 3", "answer 4"]);
  await settled();
  statements[2]?.end();
  expect(await asked[4]).toBe("answer 5");
});

test("a batch that may be repeated stays first, until it is stored (issue 14, 9)", async () => {
  const away = new Error("away");
  const repeatInMs = (error: unknown): number | undefined => (error === away ? 1 : undefined);
  const { shared, statements } = aStore({ itemsMax: 2, repeatInMs });
  const asked = [1, 2, 3].map((one) => shared.ask(one));
  for (let times = 1; times <= 3; times += 1) {
    await expect.poll(() => statements.length, { timeout: 4_000 }).toBe(times);
    expect(statements.at(-1)?.asked).toEqual([1, 2]);
    expect(shared.count).toBe(3);
    statements.at(-1)?.end(times < 3 ? away : undefined);
  }
  expect(await Promise.all(asked.slice(0, 2))).toEqual(["answer 1", "answer 2"]);
  await settled();
  statements.at(-1)?.end();
  expect(await asked[2]).toBe("answer 3");
  await settled();
  expect(shared.count).toBe(0);
});

test("a batch has at most its size, and one larger item goes alone (issue 14, 9)", async () => {
  const { shared, statements } = aStore({
    itemsMax: 9,
    sizeOf: (item) => item,
    sizeMax: 4,
    waitingMax: 99,
  });
  for (const item of [1, 3, 1, 7, 2]) expect(shared.add(item)).toBe(true);
  for (let batch = 0; batch < 4; batch += 1) {
    await settled();
    statements[batch]?.end();
  }
  await settled();
  expect(statements.map(({ asked }) => asked)).toEqual([[1, 3], [1], [7], [2]]);
});

test("what has no room is refused, and what is under way counts (issue 14, 9)", async () => {
  const { shared, statements } = aStore({ itemsMax: 2, waitingMax: 2 });
  expect([shared.add(1), shared.add(2), shared.add(3)]).toEqual([true, true, false]);
  await settled();
  await expect(shared.ask(4)).rejects.toThrow("too many");
  statements[0]?.end();
  await settled();
  expect(shared.add(5)).toBe(true);
});

test("an item fails alone where its result does (issue 14, 9)", async () => {
  const fault = new Error("refused");
  const batcher = new Batcher<number, number>({
    flush: async (items) => items.map((one) => (one === 2 ? Promise.reject(fault) : one)),
    itemsMax: 9,
    waitingMax: 9,
  });
  const all = [1, 2, 3].map((one) => batcher.ask(one).catch((error: unknown) => error));
  expect(await Promise.all(all)).toEqual([1, fault, 3]);
});

test("closing flushes what is left, and stops at a batch that would be repeated (issue 14, 9)", async () => {
  const stored: number[] = [];
  let isAway = false;
  const batcher = new Batcher<number>({
    flush: async (items) => {
      if (isAway) throw new Error("away");
      stored.push(...items);
      isAway = stored.length === 4;
      return [];
    },
    itemsMax: 2,
    waitingMax: 9,
    gatherMs: 600_000,
    repeatInMs: () => 600_000,
  });
  for (const item of [1, 2, 3, 4, 5]) batcher.add(item);
  const last = batcher.ask(6);
  await Promise.all([batcher.close(), expect(last).rejects.toThrow("closed")]);
  expect(stored).toEqual([1, 2, 3, 4]);
  expect(batcher.count).toBe(2);
});
