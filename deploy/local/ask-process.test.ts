import { createServer } from "node:http";
import { expect, test } from "vitest";
import { askProcess, hangs, type ProcessState } from "./ask-process.ts";

test.each([
  [200, "ready"],
  [503, "unready"],
])("an answer %i is %s", async (status, state) => {
  const server = createServer((_, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  expect(await askProcess(`http://127.0.0.1:${port}/readyz`)).toBe(state);
  server.close();
  expect(await askProcess(`http://127.0.0.1:${port}/readyz`)).toBe("unready");
});

test("a port that is open and answers nothing is silent", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  expect(await askProcess(`http://127.0.0.1:${port}/readyz`)).toBe("silent");
  server.closeAllConnections();
  server.close();
});

async function verdictOf(answers: readonly ProcessState[], endAfter = Number.POSITIVE_INFINITY) {
  const end = new AbortController();
  let asked = 0;
  const ask = (): Promise<ProcessState> => {
    asked += 1;
    if (asked > endAfter) end.abort();
    return Promise.resolve(answers[asked - 1] ?? "silent");
  };
  return { hangs: await hangs(ask, end.signal, { everyMs: 1 }), asked };
}

test("a process hangs after five questions in a row without an answer", async () => {
  expect(await verdictOf([])).toEqual({ hangs: true, asked: 5 });
  const once = ["silent", "silent", "silent", "silent", "unready"] as const;
  expect(await verdictOf([...once, "ready"])).toEqual({ hangs: true, asked: 11 });
});

test("the questions end with the process", async () => {
  expect(await verdictOf([], 2)).toEqual({ hangs: false, asked: 3 });
});
