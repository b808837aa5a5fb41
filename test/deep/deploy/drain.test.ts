import { afterAll, beforeAll, expect, test } from "vitest";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import { ChildServer } from "../../system/child-server.ts";
import { RawConnection, rawRequest } from "../../system/raw-http.ts";
import { RollingLoad } from "../../system/rolling-load.ts";
import { nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { WorkersWorld } from "./workers-world.ts";

const WORKERS = 2;
const DRAIN_SECONDS = 2;
const PATIENCE_MS = 60_000;
const CLICKS_PER_SECOND = 1_000;
const CONNECTIONS = 24;
const CLICK = "/r/OFFER1/PARTNR";

let world: WorkersWorld;
let processors: ChildServer;
let runs = 0;

beforeAll(async () => {
  world = await WorkersWorld.open({
    workers: WORKERS,
    env: { DRAIN_SECONDS: String(DRAIN_SECONDS), DRAIN_STORED_SECONDS: "25" },
  });
  processors = await world.startProcessors();
  await world.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** A load that is answered, so that what follows meets open connections. */
async function startLoad(): Promise<{ load: RollingLoad; run: string }> {
  runs += 1;
  const run = `drain${Date.now().toString(36)}${runs}`;
  const load = new RollingLoad(world.port, run, CLICKS_PER_SECOND);
  load.start();
  await until("clicks are answered", () => load.answered.size > 200, { timeoutMs: PATIENCE_MS });
  return { load, run };
}

/** Waits until exactly the answered clicks are stored. */
async function expectStored(load: RollingLoad, run: string): Promise<void> {
  const wanted = [...load.answered.values()].toSorted();
  const stored = await until(
    "the answered clicks are stored",
    async () => {
      const ids = await world.storedIds(run);
      return ids.length >= wanted.length ? ids : undefined;
    },
    { timeoutMs: PATIENCE_MS, pollMs: 200 },
  );
  expect(stored.toSorted()).toEqual(wanted);
}

test("SIGHUP restarts every worker under load, one at a time, and no request fails", async () => {
  const before = world.startedWorkers().length;
  const { load, run } = await startLoad();
  world.parent.signal("SIGHUP");
  await until(
    "the restart is over",
    () => world.log.some(({ msg }) => msg === "workers.restarted"),
    {
      timeoutMs: PATIENCE_MS,
    },
  );
  await load.stop();
  expect(load.failures.slice(0, 10)).toEqual([]);
  expect(load.resets).toBeLessThanOrEqual(WORKERS);
  expect(load.closes).toBeGreaterThan(0);
  expect(world.startedWorkers()).toHaveLength(before + WORKERS);
  // From the end of one worker to the moment when its successor serves, no other ends.
  const steps = world.log.flatMap(({ msg, worker }) =>
    msg === "worker.replaced" || msg === "worker.serving" ? [`${msg} ${String(worker)}`] : [],
  );
  expect(steps.slice(-2 * WORKERS)).toEqual(
    Array.from({ length: WORKERS }, (_, worker) => [
      `worker.replaced ${worker}`,
      `worker.serving ${worker}`,
    ]).flat(),
  );
  await expectStored(load, run);
});

test("kill -9 of a worker breaks its own connections only, and another takes its place", async () => {
  const connections = await connectionsByProducer();
  const victim = 0;
  const dead = (await world.status(victim))?.producer ?? -1;
  const before = world.pidOf(victim);
  expect(new Set(connections.map(({ producer }) => producer)).size).toBe(WORKERS);
  process.kill(before, "SIGKILL");
  const broken = connections.filter(({ producer }) => producer === dead);
  const others = connections.filter(({ producer }) => producer !== dead);
  for (const { connection } of broken) expect(await connection.untilClosed(PATIENCE_MS)).toBe(true);
  for (const { connection } of others) {
    connection.send(rawRequest(CLICK));
    expect((await connection.answer())?.status).toBe(302);
    connection.destroy();
  }
  await until(
    "the worker serves again",
    async () => world.pidOf(victim) !== before && (await world.status(victim))?.ready === true,
    { timeoutMs: PATIENCE_MS },
  );
});

test("SIGTERM under load: unready, serves on, fails nothing, and leaves no journal (24)", async () => {
  const { load, run } = await startLoad();
  const signalledAtMs = Date.now();
  world.parent.signal("SIGTERM");
  const ended = world.parent.ended;
  await until("every worker is unready", async () => await areUnready(), { pollMs: 10 });
  const answeredBefore = load.answered.size;
  // A balancer needs a moment to see that; until then it sends new connections.
  await until("requests are still answered", () => load.answered.size > answeredBefore + 100, {
    pollMs: 10,
  });
  expect(Date.now() - signalledAtMs).toBeLessThan(DRAIN_SECONDS * 1_000);
  await load.stop();
  expect(load.failures.slice(0, 10)).toEqual([]);
  expect(await ended).toBe(0);
  expect(Date.now() - signalledAtMs).toBeGreaterThanOrEqual(DRAIN_SECONDS * 1_000);
  expect(await world.segments()).toEqual([]);
  await expectStored(load, run);
});

test("a client that does not look at readiness is refused only when the listener is closed", async () => {
  await world.start();
  const { load } = await startLoad();
  const signalledAtMs = Date.now();
  world.parent.signal("SIGTERM");
  const firstFailureAtMs = await until("a request fails", () => load.firstFailureAtMs, {
    timeoutMs: PATIENCE_MS,
    pollMs: 5,
  });
  await load.stop();
  expect(firstFailureAtMs - signalledAtMs).toBeGreaterThanOrEqual(DRAIN_SECONDS * 1_000);
  expect(load.failures[0]).toContain("ECONNREFUSED");
  expect(await world.parent.ended).toBe(0);
});

test("a second SIGTERM ends every worker at once", async () => {
  await world.start();
  const firstAtMs = Date.now();
  world.parent.signal("SIGTERM");
  await until("every worker is unready", async () => await areUnready(), { pollMs: 10 });
  // A signal within half a second counts as the same one.
  await until("the second signal counts", () => Date.now() - firstAtMs > 600, { pollMs: 10 });
  world.parent.signal("SIGTERM");
  expect(await world.parent.ended).toBe(1);
  expect(Date.now() - firstAtMs).toBeLessThan(DRAIN_SECONDS * 1_000);
});

test("SIGTERM of a click writer under load gives its lanes back, and no click is lost or doubled (24)", async () => {
  await world.start();
  const { load, run } = await startLoad();
  processors.signal("SIGTERM");
  expect(await processors.ended).toBe(0);
  expect(await world.world.rows("select lane from lane_lease where owner <> ''")).toEqual([]);
  expect(await world.world.rows("select owner from lane_writer")).toEqual([]);
  processors = await world.startProcessors();
  await load.stop();
  expect(load.failures.slice(0, 10)).toEqual([]);
  await expectStored(load, run);
});

test("SIGTERM of the api: unready, each answer closes its connection, no request fails (24)", async () => {
  const port = await freePort();
  const env = { ...world.world.env, API_PORT: String(port), DRAIN_SECONDS: String(DRAIN_SECONDS) };
  const api = await ChildServer.start(nodeProgram("api"), `http://127.0.0.1:${port}/health`, env);
  let isOver = false;
  let closes = 0;
  const loops = Array.from({ length: 4 }, async () => {
    let connection: RawConnection | undefined;
    while (!isOver) {
      connection ??= await RawConnection.open(port);
      connection.send(rawRequest("/api/v1/me"));
      const answer = await connection.answer();
      // Without a key, which is an answer of the api like any other.
      if (answer?.status !== 401) throw new Error(`answered ${String(answer?.status)}`);
      if (answer.headers.get("connection")?.[0] !== "close") continue;
      closes += 1;
      connection.destroy();
      connection = undefined;
    }
    connection?.destroy();
  });
  await until("connections are open", async () => (await readyz(api)) === 200, {
    timeoutMs: PATIENCE_MS,
  });
  const signalledAtMs = Date.now();
  api.signal("SIGTERM");
  await until("it is unready", async () => (await readyz(api)) === 503, { pollMs: 10 });
  await until("it serves on", () => closes > 20, { pollMs: 10 });
  isOver = true;
  await Promise.all(loops);
  expect(Date.now() - signalledAtMs).toBeLessThan(DRAIN_SECONDS * 1_000);
  expect(await api.ended).toBe(0);
  expect(Date.now() - signalledAtMs).toBeGreaterThanOrEqual(DRAIN_SECONDS * 1_000);
});

test("workers whose parent is killed end by themselves, and what they answered is stored", async () => {
  await world.start();
  const { load, run } = await startLoad();
  const pids = Array.from({ length: WORKERS }, (_, worker) => world.pidOf(worker));
  process.kill(world.parent.pid, "SIGKILL");
  await until("the workers have ended", () => pids.every((pid) => !isAlive(pid)), {
    timeoutMs: PATIENCE_MS,
  });
  await load.stop();
  // Their listeners are closed, so the load ends with refused connections and nothing else.
  expect(load.failures.filter((failure) => !failure.includes("ECONNREFUSED"))).toEqual([]);
  await expectStored(load, run);
  expect(await world.segments()).toEqual([]);
});

/** Whether every worker answers, and says that it is not ready. */
async function areUnready(): Promise<boolean> {
  const answers = await Promise.all(
    world.opsPorts.map(async (port) => await fetch(`http://127.0.0.1:${port}/readyz`)),
  );
  return answers.every(({ status }) => status === 503);
}

async function readyz({ opsPort }: ChildServer): Promise<number> {
  return (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status;
}

/** Open connections with the producer number of the worker that has each. */
async function connectionsByProducer(): Promise<{ connection: RawConnection; producer: number }[]> {
  const open = Array.from({ length: CONNECTIONS }, async () => {
    const connection = await RawConnection.open(world.port);
    connection.send(rawRequest(CLICK));
    const [cookie = ""] = (await connection.answer())?.headers.get("set-cookie") ?? [];
    const id = /^trk_cid=([0-9a-f]{32})/.exec(cookie)?.[1] ?? "";
    return { connection, producer: clickIdParts(id).producer };
  });
  return await Promise.all(open);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
