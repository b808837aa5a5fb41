import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { findClick } from "../../../../api/traffic/clicks/find-click.ts";
import { allocateFolderNumber } from "../../../../ingress/journal/allocate-producer.ts";
import { readRuns } from "../../../../ingress/journal/journal-run.ts";
import { clickIdParts } from "../../../../schemas/ids/click-id.ts";
import { runTracker } from "../../../integration/api/run-tracker.ts";
import { IngressFleet } from "../../../system/ingress-fleet.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";
import { until } from "../../../system/until.ts";
import { WriterProcess } from "../clicks/writer-process.ts";

/** Several processes start one after the other. */
const HANG_MS = 240_000;
const PATIENCE = { timeoutMs: 60_000, pollMs: 100 };
/** For conditions that run a command of the command line. */
const COMMAND = { ...PATIENCE, pollMs: 500 };

const Listed = z.array(z.object({ id: z.int(), state: z.string() }));

let fleet: IngressFleet;
let writer: WriterProcess;
let folder: string;
let sent: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-reused-"));
  fleet = await IngressFleet.open({ processes: 0 });
  await fleet.world.addOffer();
  writer = WriterProcess.start({
    ...fleet.world.env,
    DATA_DIR: join(folder, "writer"),
    ROLES: "clicks",
  });
  sent = 0;
  // Nearly all new numbers are used up.
  await fleet.world.rows("select setval('ingress_producer_id_seq', 50000)");
});
afterEach(async () => {
  await writer.kill("SIGTERM");
  await fleet[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Machine = { readonly DATA_DIR: string };

function aMachine(name: string): Machine {
  return { DATA_DIR: join(folder, name) };
}

async function numbersOn({ DATA_DIR }: Machine): Promise<number[]> {
  return (await readdir(join(DATA_DIR, "journal"))).map(Number);
}

/** Sends each click on a new connection, which the kernel gives to any process that listens on the port. */
async function click(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    sent += 1;
    const url = `http://127.0.0.1:${fleet.port}/r/OFFER1/PARTNR?sub1=${sent}`;
    const { statusCode, body } = await request(url, { reset: true });
    await body.dump();
    expect(statusCode).toBe(302);
  }
}

type Counts = { rows: number; clicks: number; positions: number };

async function untilStored(): Promise<Counts> {
  const count = async (): Promise<Counts | undefined> =>
    (
      await fleet.world.facts<Counts>(
        `select count() as rows, uniqExact(sub1) as clicks,
           uniqExact(_lane, _producer, _epoch, _position) as positions from click`,
      )
    )[0];
  return await until(
    "every click is stored",
    async () => {
      const counts = await count();
      return counts !== undefined && counts.rows >= sent ? counts : undefined;
    },
    PATIENCE,
  ).catch(async (error: unknown) => {
    throw new Error(`${JSON.stringify(await count())}\n${fleet.output}`, { cause: error });
  });
}

async function clickIds(): Promise<string[]> {
  const rows = await fleet.world.facts<{ id: string }>("select hex(click_id) as id from click");
  return rows.map(({ id }) => id.toLowerCase());
}

async function stateOf(producer: number): Promise<string | undefined> {
  const text = await runTracker(fleet.world, "producer", "list", "--json");
  return Listed.parse(JSON.parse(text)).find(({ id }) => id === producer)?.state;
}

/** Waits until the holder has ended, lets a week pass, and proves that its number is free. */
async function proveFree(producer: number): Promise<void> {
  await until("the holder has ended", async () => (await stateOf(producer)) === "ended", COMMAND);
  await until(
    "it is quiet, and its progress is noted",
    async () => {
      await runTracker(fleet.world, "producer", "free");
      const [row] = await fleet.world.rows<{ positions: number; noted: number }>(
        `select coalesce(sum(settled), 0)::integer as noted from click_stored where producer = $1`,
        [producer],
      );
      const [stored] = await fleet.world.facts<{ rows: number }>(
        "select count() as rows from click where _producer = {producer: UInt16}",
        { producer },
      );
      return row?.noted === stored?.rows;
    },
    COMMAND,
  );
  await fleet.world.rows(
    "update ingress_producer set quiet_since = quiet_since - interval '8 days' where id = $1",
    [producer],
  );
  expect(await runTracker(fleet.world, "producer", "free")).toMatch(/^1 more numbers/);
  expect(await stateOf(producer)).toBe("free");
}

test(
  "with a reused number, and its old journal back, every click counts once and is found (P8)",
  async () => {
    const [first, second] = [aMachine("first"), aMachine("second")];
    const pid = await fleet.addIngress(first);
    await fleet.untilCurrent();
    await click(20);
    expect(await untilStored()).toEqual({ rows: 20, clicks: 20, positions: 20 });
    const [number = 0] = await numbersOn(first);
    expect(number).toBe(50_001);
    expect(await fleet.terminate(pid)).toBe(0);
    await proveFree(number);
    const secondPid = await fleet.addIngress(second);
    await fleet.untilCurrent();
    expect(await numbersOn(second)).toEqual([number]);
    const epochs = [first, second].map(({ DATA_DIR }) =>
      readRuns(join(DATA_DIR, "journal", String(number))).map(({ epoch }) => epoch),
    );
    expect(Math.min(...(epochs[1] ?? []))).toBeGreaterThan(Math.max(...(epochs[0] ?? [])));
    await click(20);
    expect(await untilStored()).toEqual({ rows: 40, clicks: 40, positions: 40 });
    const ids = await clickIds();
    expect(new Set(ids.map((id) => clickIdParts(id).producer))).toEqual(new Set([number]));
    const { clickhouse, nats, pool: db, workspaceId } = fleet.world;
    for (const id of ids) {
      const stores = { clickhouse, nats, db, nowMs: Date.now() };
      expect(await findClick(stores, { role: "staff", workspaceId }, id)).toMatchObject({
        click_id: id,
      });
    }

    // The old volume is attached again while Postgres is away, so its process answers clicks under the number.
    const gate = await TcpGate.open(fleet.world.env.POSTGRES_URL);
    await gate.shut();
    const returned = await fleet.addIngress({
      ...first,
      POSTGRES_URL: gate.urlOf(fleet.world.env.POSTGRES_URL),
    });
    await click(20);
    await gate.open();
    await until("it leaves the number", () => !fleet.pids.includes(returned), PATIENCE);
    expect(fleet.pids).toContain(secondPid);
    expect(fleet.output).toContain("the number was given to another journal folder");
    await click(10);
    await fleet.addIngress(first);
    await fleet.untilCurrent();
    await click(20);
    expect(await untilStored()).toEqual({ rows: 90, clicks: 90, positions: 90 });
    expect((await numbersOn(first)).toSorted((a, b) => a - b)).toEqual([number, 50_002]);

    // The end of the returned folder's epoch does not end the epoch of the number's holder.
    const open = async (): Promise<number[]> =>
      (
        await fleet.world.rows<{ epoch: number }>(
          "select distinct epoch from click_producer where producer = $1",
          [number],
        )
      ).map(({ epoch }) => epoch);
    const holders = readRuns(join(second.DATA_DIR, "journal", String(number))).at(-1)?.epoch;
    await until(
      "only the holder's epoch is open",
      async () => JSON.stringify(await open()) === JSON.stringify([holders]),
      PATIENCE,
    );
    expect(await stateOf(number)).toBe("running");
    await click(10);
    expect(await untilStored()).toEqual({ rows: 100, clicks: 100, positions: 100 });
    await gate.shut();
    expect(await runTracker(fleet.world, "audit")).toMatch(/^clicks +equal +100 rows/);
  },
  HANG_MS,
);

test(
  "a journal that starts again between proof and use keeps its number, also through kill -9 (P8)",
  async () => {
    const [first, second] = [aMachine("first"), aMachine("second")];
    await fleet.terminate(await fleet.addIngress(first));
    const [number = 0] = await numbersOn(first);
    await proveFree(number);
    const pid = await fleet.addIngress(first);
    await until("it has its number", async () => (await stateOf(number)) === "running", COMMAND);
    await fleet.untilCurrent();
    await click(20);
    process.kill(pid, "SIGKILL");
    await until("it is dead", () => !fleet.pids.includes(pid), PATIENCE);
    await runTracker(fleet.world, "producer", "free");
    await fleet.addIngress(second);
    expect(await numbersOn(second)).toEqual([50_002]);
    await fleet.addIngress(first);
    expect(await numbersOn(first)).toEqual([number]);
    await fleet.untilCurrent();
    await click(20);
    expect(await untilStored()).toEqual({ rows: 40, clicks: 40, positions: 40 });
  },
  HANG_MS,
);

test(
  "a process that dies after it got a free number gives it to nobody twice (P8)",
  async () => {
    const [first, second, third] = [aMachine("first"), aMachine("second"), aMachine("third")];
    await fleet.terminate(await fleet.addIngress(first));
    const [number = 0] = await numbersOn(first);
    await proveFree(number);
    const taken = await allocateFolderNumber(fleet.world.pool)("of a process that dies", {
      besides: [],
    });
    expect(taken.producer).toBe(number);
    await fleet.addIngress(second);
    expect(await numbersOn(second)).toEqual([50_002]);
    await fleet.terminate(await fleet.addIngress(third));
    // The folder of the first holder comes back, and is refused.
    await expect(fleet.addIngress(first)).rejects.toThrow(
      /ended with 5: .*another journal folder/s,
    );
    await fleet.addIngress(first);
    await fleet.untilCurrent();
    await click(20);
    expect(await untilStored()).toEqual({ rows: 20, clicks: 20, positions: 20 });
  },
  HANG_MS,
);
