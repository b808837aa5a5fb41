import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { IngressFleet } from "../../../system/ingress-fleet.ts";
import { until } from "../../../system/until.ts";
import { WriterProcess } from "../clicks/writer-process.ts";

/** Several processes start one after the other. */
const HANG_MS = 240_000;
const PATIENCE = { timeoutMs: 60_000, pollMs: 100 };

let fleet: IngressFleet;
let writer: WriterProcess;
let folder: string;
let sent: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-copied-"));
  fleet = await IngressFleet.open({ processes: 0 });
  await fleet.world.addOffer();
  writer = WriterProcess.start({
    ...fleet.world.env,
    DATA_DIR: join(folder, "writer"),
    ROLES: "clicks",
  });
  sent = 0;
});
afterEach(async () => {
  await writer.kill("SIGTERM");
  await fleet[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

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

/** Waits until every click is stored once; returns their number. */
async function untilStored(): Promise<number> {
  const count = async (): Promise<string> => {
    const answer = await fleet.world.clickhouse.query({
      query: "select count() as rows, uniqExact(sub1) as clicks from click",
      format: "JSONEachRow",
    });
    return JSON.stringify(await answer.json());
  };
  const expected = JSON.stringify([{ rows: sent, clicks: sent }]);
  await until("every click is stored", async () => (await count()) === expected, PATIENCE).catch(
    async (error: unknown) => {
      throw new Error(`${await count()}, not ${expected}\n${fleet.output}`, { cause: error });
    },
  );
  return sent;
}

test(
  "on a copied machine every click counts once, and one of the two gets a new number (#7, P38)",
  async () => {
    const original = { DATA_DIR: join(folder, "original") };
    const copy = { DATA_DIR: join(folder, "copy") };
    const pid = await fleet.addIngress(original);
    await fleet.untilCurrent();
    await click(40);
    // Copied while it runs, with records in its journal that the copy will also ship.
    await cp(original.DATA_DIR, copy.DATA_DIR, { recursive: true });
    await fleet.addIngress(copy);
    await click(40);
    await until("the original leaves its number", () => !fleet.pids.includes(pid), PATIENCE);
    expect(fleet.output).toContain("runs on a copy of this journal folder");
    expect(await readdir(join(original.DATA_DIR, "journal"))).toHaveLength(2);
    // As a supervisor would.
    await fleet.addIngress(original);
    await fleet.untilCurrent();
    await click(40);
    expect(await untilStored()).toBe(120);
  },
  HANG_MS,
);

test(
  "a number that a restored Postgres allocates twice gets one journal, no click is lost (#7, P38)",
  async () => {
    const original = { DATA_DIR: join(folder, "original") };
    const second = { DATA_DIR: join(folder, "second") };
    const pid = await fleet.addIngress(original);
    await fleet.untilCurrent();
    await click(20);
    // Postgres goes back to before the number was allocated and allocates it again, before the original can claim it.
    await fleet.world.pool.query({
      text: `with gone as (delete from ingress_producer returning id)
           select setval(pg_get_serial_sequence('ingress_producer', 'id'), (select min(id) from gone), false)`,
    });
    await fleet.addIngress(second);
    await click(20);
    const numbers = async (): Promise<string[]> => [
      ...(await readdir(join(original.DATA_DIR, "journal"))),
      ...(await readdir(join(second.DATA_DIR, "journal"))),
    ];
    await until(
      "the two journals have different numbers",
      async () => {
        const all = await numbers();
        return !fleet.pids.includes(pid) || new Set(all).size === all.length;
      },
      PATIENCE,
    );
    if (!fleet.pids.includes(pid)) await fleet.addIngress(original);
    await fleet.untilCurrent();
    await click(20);
    expect(await untilStored()).toBe(60);
  },
  HANG_MS,
);
