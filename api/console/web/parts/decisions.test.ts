import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Problem } from "../client/problem.ts";
import { wordsOf } from "./decision-words.ts";
import { type Decided, Decisions, type Sent, WAIT_MS } from "./decisions.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

type Sending = { readonly keys: readonly string[]; readonly isLeaving: boolean };

/** Decisions, what they have sent, and which keys came back. */
function desk(answer: (keys: readonly string[]) => Promise<Sent> = whole) {
  const sent: Sending[] = [];
  const back: string[] = [];
  const held = { is: false };
  const decisions = new Decisions(() => held.is);
  const decide = (keys: readonly string[], verb = "rejected"): void => {
    const decided: Decided = {
      kind: "sales",
      keys,
      what: (some) => (some.length === 1 ? `Sale ${some.join("")}` : `${some.length} sales`),
      verb,
      button: "Reject",
      skipped: [],
      onBack: (some) => back.push(...some),
      send: async (some, { isLeaving }) => {
        sent.push({ keys: some, isLeaving });
        return await answer(some);
      },
    };
    decisions.decide(decided);
  };
  const words = (): readonly string[] => decisions.notices().map(wordsOf);
  const ids = (): readonly number[] => decisions.notices().map(({ id }) => id);
  return { decisions, decide, sent, back, held, words, ids };
}

async function whole(keys: readonly string[]): Promise<Sent> {
  return await Promise.resolve({ done: keys, skipped: [], left: [] });
}

test("a decision is sent after ten seconds, not before, and says only then that it is done", async () => {
  const { decide, sent, words } = desk();
  decide(["a", "b", "c"]);
  await vi.advanceTimersByTimeAsync(WAIT_MS - 300);
  expect(sent).toEqual([]);
  expect(words()).toEqual(["3 sales will be rejected"]);
  await vi.advanceTimersByTimeAsync(600);
  expect(sent).toEqual([{ keys: ["a", "b", "c"], isLeaving: false }]);
  expect(words()).toEqual(["3 sales rejected"]);
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  expect(words()).toEqual([]);
});

test("what was taken back is never sent, and its rows come back", async () => {
  const { decisions, decide, sent, back, words, ids } = desk();
  decide(["a"]);
  decisions.undo(ids()[0] ?? 0);
  expect(words()).toEqual(["Taken back: Sale a not rejected"]);
  await vi.advanceTimersByTimeAsync(WAIT_MS * 3);
  decisions.leave();
  expect([sent, back]).toEqual([[], ["a"]]);
});

test("no time passes while somebody reads a notice", async () => {
  const { decide, sent, held } = desk();
  held.is = true;
  decide(["a"]);
  await vi.advanceTimersByTimeAsync(WAIT_MS * 5);
  expect(sent).toEqual([]);
  held.is = false;
  await vi.advanceTimersByTimeAsync(WAIT_MS + 500);
  expect(sent).toHaveLength(1);
});

test("the last decision about a row counts, and the others of the first stay", async () => {
  const { decide, sent, words } = desk();
  decide(["a", "b"]);
  decide(["b"], "approved");
  expect(words()).toEqual(["Sale a will be rejected", "Sale b will be approved"]);
  await vi.advanceTimersByTimeAsync(WAIT_MS + 500);
  expect(sent.map(({ keys }) => keys)).toEqual([["a"], ["b"]]);
});

test("who leaves the page loses no decision", () => {
  const { decisions, decide, sent } = desk();
  decide(["a"]);
  decide(["b"]);
  decisions.leave();
  decisions.leave();
  expect(sent).toEqual([
    { keys: ["a"], isLeaving: true },
    { keys: ["b"], isLeaving: true },
  ]);
});

test("the browser asks before a change is cut in two or is too large to be sent on leaving", () => {
  const { decisions, decide } = desk(async () => await new Promise(() => undefined));
  decide(["a"]);
  expect(decisions.mayLose()).toBe(false);
  decide(Array.from({ length: 1_600 }, (_, at) => String(at)));
  expect(decisions.mayLose()).toBe(true);
  const other = desk(async () => await new Promise(() => undefined));
  other.decide(["a"]);
  void other.decisions.send(other.ids()[0] ?? 0);
  expect(other.decisions.mayLose()).toBe(true);
});

test("the oldest of four is sent at once, so that the notices cover no screen", async () => {
  const { decide, sent, words } = desk();
  for (const key of ["a", "b", "c", "d"]) decide([key]);
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.map(({ keys }) => keys)).toEqual([["a"]]);
  expect(words()).toEqual(["b", "c", "d"].map((key) => `Sale ${key} will be rejected`));
});

test("a failure names what was not changed, gives its rows back, and only those are sent again", async () => {
  const refused = problem(403);
  let isRefused = true;
  const { decisions, decide, sent, back, words, ids } = desk(async (keys) =>
    isRefused
      ? { done: keys.slice(0, 1), skipped: [], left: keys.slice(1), error: refused }
      : await whole(keys),
  );
  decide(["a", "b", "c"]);
  expect(await decisions.settle()).toBe(false);
  expect(words()).toEqual(["Sale a rejected. 2 sales not rejected"]);
  expect(back).toEqual(["b", "c"]);
  isRefused = false;
  await decisions.send(ids()[0] ?? 0);
  expect(sent.at(-1)?.keys).toEqual(["b", "c"]);
  expect(words()).toEqual(["3 sales rejected"]);
});

test("without an answer, a notice does not say that nothing was changed", async () => {
  const { decisions, decide, words } = desk(async () => await Promise.reject(problem(0)));
  decide(["a"]);
  await decisions.settle();
  expect(words()).toEqual(["Sale a: not known whether rejected"]);
});

test("rows that were skipped are counted with their reason, and the notice stays", async () => {
  const skipped = ["b", "c"].map((name) => ({ name, why: "already rejected" }));
  const { decisions, decide, words } = desk(
    async () => await Promise.resolve({ done: ["a"], skipped, left: [] }),
  );
  decide(["a", "b", "c"]);
  await decisions.settle();
  await vi.advanceTimersByTimeAsync(WAIT_MS * 3);
  expect(words()).toEqual(["Sale a rejected, 2 skipped: already rejected"]);
});

function problem(status: number): Problem {
  const code = status === 0 ? "unreachable" : "forbidden";
  return new Problem("no", {
    status,
    code,
    fields: {},
    requestId: "",
    retryAfterSeconds: undefined,
  });
}
