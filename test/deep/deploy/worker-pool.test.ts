import { expect, test } from "vitest";
import { Worker } from "../../../deploy/workers/worker.ts";
import { WorkerPool } from "../../../deploy/workers/worker-pool.ts";
import { freePorts } from "../../deploy/free-ports.ts";
import { testLog } from "../../services/stores.ts";
import { until } from "../../system/until.ts";

const PATIENCE_MS = 20_000;
/** A worker that serves: ready at once, ends well by SIGTERM or SIGHUP. */
const SERVES = `
  require("node:http").createServer((_, response) => response.end()).listen(Number(process.env.PORT), "127.0.0.1");
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(0));`;

/** A pool whose workers run these programs. `starts` counts the starts of each. */
async function poolOf(
  programs: readonly string[],
  endDeadlineMs = 10_000,
): Promise<{
  pool: WorkerPool;
  starts: number[];
  /** The pid of the newest process of each worker. */
  pids: number[];
  isServing: (worker: number) => Promise<boolean>;
}> {
  const first = await freePorts(programs.length);
  const starts = programs.map(() => 0);
  const pids = programs.map(() => 0);
  const urlOf = (index: number): string => `http://127.0.0.1:${first + index}/`;
  const pool = new WorkerPool({
    workers: programs.length,
    log: testLog(),
    endDeadlineMs,
    start: async (index) => {
      starts[index] = (starts[index] ?? 0) + 1;
      const worker = await Worker.start({
        command: [process.execPath, "-e", programs[index] ?? ""],
        env: { ...process.env, PORT: String(first + index) },
        readyUrl: urlOf(index),
      });
      pids[index] = worker.pid;
      return worker;
    },
  });
  const isServing = async (index: number): Promise<boolean> => (await fetch(urlOf(index))).ok;
  return { pool, starts, pids, isServing };
}

test.each([2, 3, 4])(
  "when every worker refuses to run with code %d, the parent ends with it",
  async (code) => {
    const { pool, starts } = await poolOf([
      `process.exit(${code})`,
      "setInterval(() => undefined, 1000)",
    ]);
    expect(await pool.run()).toBe(code);
    expect(starts[0]).toBe(1);
  },
);

test("a worker that refuses to run does not end the ones that serve", async () => {
  const { pool, starts, isServing } = await poolOf([
    SERVES,
    `setTimeout(() => process.exit(2), 500)`,
  ]);
  const ended = pool.run();
  await until("the second was started again", () => (starts[1] ?? 0) > 1, {
    timeoutMs: PATIENCE_MS,
  });
  expect(await isServing(0)).toBe(true);
  expect(starts[0]).toBe(1);
  pool.end("SIGTERM");
  await ended;
});

test("a worker that dies again and again is started after ever longer waits", async () => {
  const { pool, starts } = await poolOf(["process.exit(1)"]);
  const startedAtMs = performance.now();
  const ended = pool.run();
  await until("it was started four times", () => starts[0] === 4, { timeoutMs: PATIENCE_MS });
  expect(performance.now() - startedAtMs).toBeGreaterThan(200 + 400 + 800);
  pool.end("SIGTERM");
  expect(await ended).toBe(1);
});

test("a worker that does not end is killed after its deadline, and the parent ends with code 1", async () => {
  const deaf = SERVES.replaceAll("process.exit(0)", "undefined");
  const { pool, isServing } = await poolOf([SERVES, deaf], 500);
  const ended = pool.run();
  await until("both serve", async () => (await isServing(0)) && (await isServing(1)), {
    timeoutMs: PATIENCE_MS,
  });
  pool.end("SIGTERM");
  expect(await ended).toBe(1);
});

test("a restart one by one waits for a worker that does not serve, and the others stay", async () => {
  const { pool, starts, isServing } = await poolOf([SERVES, "setInterval(() => undefined, 1000)"]);
  const ended = pool.run();
  await until("the first serves", async () => await isServing(0), { timeoutMs: PATIENCE_MS });
  const restarted = pool.restartInTurn();
  // The second never serves, so the first must not be touched, however long that takes.
  await until("the second was looked at for a while", () => starts[1] === 1, {
    timeoutMs: PATIENCE_MS,
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 1_000);
  });
  expect(starts[0]).toBe(1);
  expect(await isServing(0)).toBe(true);
  pool.end("SIGTERM");
  await Promise.all([ended, restarted]);
});

test("a worker that stands still is killed and started again; until then the pool is not ready", async () => {
  const { pool, starts, pids } = await poolOf([SERVES, SERVES]);
  const ended = pool.run();
  await until("both serve", () => pool.serving === 2, { timeoutMs: PATIENCE_MS });
  expect(pool.isReady).toBe(true);
  process.kill(pids[1] ?? 0, "SIGSTOP");
  await until("the pool is not ready", () => !pool.isReady, { timeoutMs: PATIENCE_MS });
  expect(pool.serving).toBe(1);
  await until("it was started again", () => starts[1] === 2, { timeoutMs: PATIENCE_MS });
  await until("both serve again", () => pool.serving === 2, { timeoutMs: PATIENCE_MS });
  expect([pool.isReady, starts]).toEqual([true, [1, 2]]);
  pool.end("SIGTERM");
  expect([await ended, pool.isDraining]).toEqual([0, true]);
}, 60_000);

test("a worker that dies leaves the pool ready while another serves", async () => {
  const { pool, pids, starts } = await poolOf([SERVES, SERVES]);
  const ended = pool.run();
  await until("both serve", () => pool.serving === 2, { timeoutMs: PATIENCE_MS });
  process.kill(pids[0] ?? 0, "SIGKILL");
  await until("it was started again", () => {
    expect(pool.isReady).toBe(true);
    return starts[0] === 2 && pool.serving === 2;
  });
  pool.end("SIGTERM");
  await ended;
});
