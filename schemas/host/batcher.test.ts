import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { SharedStatements } from "./shared-statements.ts";

/** A store whose statements end when they are told. */
function aStore(limits: {
  readonly togetherMax: number;
  readonly statementsMax: number;
  readonly pauseMs?: number;
}) {
  const statements: { readonly asked: readonly number[]; readonly end: (fault?: Error) => void }[] =
    [];
  const shared = new SharedStatements<number, string>({
    ...limits,
    read: (asked) =>
      new Promise((resolve, reject) => {
        const answers = asked.map((one) => `answer ${one}`);
        const end = (fault?: Error): void => (fault ? reject(fault) : resolve(answers));
        statements.push({ asked, end });
      }),
  });
  return { shared, statements };
}

test("what is asked while all statements are under way shares the next one (#16)", async () => {
  const { shared, statements } = aStore({ togetherMax: 3, statementsMax: 1 });
  const first = shared.ask(0);
  await turn();
  const others = [1, 2, 3, 4].map((one) => shared.ask(one));
  await turn();
  expect(statements.map(({ asked }) => asked)).toEqual([[0]]);
  statements[0]?.end();
  expect(await first).toBe("answer 0");
  await turn();
  await turn();
  statements[1]?.end();
  expect(await Promise.all(others.slice(0, 3))).toEqual(["answer 1", "answer 2", "answer 3"]);
  await turn();
  await turn();
  statements[2]?.end();
  expect(await others[3]).toBe("answer 4");
  expect(statements.map(({ asked }) => asked)).toEqual([[0], [1, 2, 3], [4]]);
});

test("a statement's place stays taken for its pause (#16)", async () => {
  const { shared, statements } = aStore({ togetherMax: 9, statementsMax: 1, pauseMs: 600_000 });
  const first = shared.ask(0);
  await turn();
  statements[0]?.end();
  expect(await first).toBe("answer 0");
  void shared.ask(1);
  await turn();
  await turn();
  expect(statements).toHaveLength(1);
});

test("a statement that fails fails for all who asked it, and the next one goes on", async () => {
  const { shared, statements } = aStore({ togetherMax: 2, statementsMax: 2 });
  const asked = [1, 2, 3, 4, 5].map((one) => shared.ask(one).catch((fault: unknown) => fault));
  await turn();
  await turn();
  expect(statements).toHaveLength(2);
  const fault = new Error("away");
  statements[0]?.end(fault);
  statements[1]?.end();
  expect(await Promise.all(asked.slice(0, 4))).toEqual([fault, fault, "answer 3", "answer 4"]);
  await turn();
  await turn();
  statements[2]?.end();
  expect(await asked[4]).toBe("answer 5");
});
