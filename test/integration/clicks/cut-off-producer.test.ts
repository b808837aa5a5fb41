import { expect, test } from "vitest";
import { Completeness } from "../../../processors/clicks/intake/completeness.ts";
import { OpenProducers } from "../../../processors/clicks/intake/open-producers.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { aClick, type ClickProducer } from "./click-producer.ts";
import { ClickWorld } from "./click-world.ts";

const MINUTE_MS = 60_000;
const PATIENCE = { timeoutMs: 90_000, pollMs: 25 };
const log = openLog({ process: "test", level: "silent" });

const world = await forThisFile(ClickWorld.open());

/** Until when the writer has every click: of all producers, and of the producer of `clickId`, UTC ms. */
async function completeTo(lane: number, clickId: string): Promise<{ all: number; own: number }> {
  const value = "unknown";
  const byAdId = {
    by: "ad-click-id",
    shard: lane,
    workspaceId: 1,
    kind: "gclid",
    offerId: 0,
    value,
  } as const;
  const { completeToMs: all } = await world.ask(byAdId);
  const { completeToMs: own } = await world.ask({ by: "id", shard: lane, clickId });
  return { all, own };
}

async function untilComplete(lane: number, clickId: string, expected: object): Promise<void> {
  let last: unknown;
  const isSo = async (): Promise<boolean> => {
    last = await completeTo(lane, clickId);
    return JSON.stringify(last) === JSON.stringify(expected);
  };
  await until("the writer has received everything until then", isSo, PATIENCE).catch(
    (error: unknown) => {
      throw new Error(`${JSON.stringify(last)}, not ${JSON.stringify(expected)}`, { cause: error });
    },
  );
}

/** A click id that the producer may have made at that time. */
function idOf({ lane, producer }: ClickProducer, atMs: number): string {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");
  return `${hex(atMs, 12)}${hex(lane, 2)}${hex(producer, 4)}${"0".repeat(14)}`;
}

test("clicks of a cut-off producer are never called unknown, also by a new writer (G162, P12, P15)", async () => {
  const lane = 1;
  const t = Date.now() - 30 * MINUTE_MS;
  const live = world.producer({ lane, producer: 1 });
  const cutOff = world.producer({ lane, producer: 2 });
  const first = await world.startWriter();
  await live.idle(t, { endedBefore: 1 });
  await cutOff.idle(t + 1_000, { endedBefore: 1 });
  // It answers a visitor with this id, but cannot ship the click.
  const id = idOf(cutOff, t + MINUTE_MS);
  await live.idle(t + 10 * MINUTE_MS, { endedBefore: 1 });
  await untilComplete(lane, id, { all: t + 1_000, own: t + 1_000 });

  await until(
    "both producers are noted",
    async () => {
      const text = "select count(*)::int as count from click_producer where lane = $1";
      const { rows } = await world.pool.query<{ count: number }>({ text, values: [lane] });
      return rows[0]?.count === 2;
    },
    PATIENCE,
  );
  await first.close();
  await world.startWriter();
  await live.idle(t + 20 * MINUTE_MS, { endedBefore: 1 });
  await live.idle(t + 20 * MINUTE_MS + 2_000, { endedBefore: 1 });
  await untilComplete(lane, id, { all: t + 1_000, own: t + 1_000 });

  // It is connected again: first it ships the click, then its current time.
  cutOff.record(aClick({ click_id: id, ts: t + MINUTE_MS, offer_id: 1, gclid: "late" }));
  await cutOff.ship(0, 1, { at: t + MINUTE_MS, endedBefore: 1 });
  await untilComplete(lane, id, { all: t + MINUTE_MS, own: t + MINUTE_MS });
  expect((await world.ask({ by: "id", shard: lane, clickId: id })).clicks).toHaveLength(1);
  await cutOff.idle(t + 21 * MINUTE_MS, { endedBefore: 1 });
  await untilComplete(lane, id, { all: t + 20 * MINUTE_MS + 2_000, own: t + 21 * MINUTE_MS });

  // It ends, so the others no longer wait for it.
  await cutOff.idle(t + 22 * MINUTE_MS, { endedBefore: 2 });
  await live.idle(t + 25 * MINUTE_MS, { endedBefore: 1 });
  await untilComplete(lane, id, { all: t + 25 * MINUTE_MS, own: t + 22 * MINUTE_MS });
});

test("a producer whose row was removed is given up unless it publishes again (G162)", async () => {
  const lane = 77;
  const now = Date.now();
  const completeness = new Completeness();
  const noted = new OpenProducers(world.pool, lane, { completeness, log });
  for (const [producer, at] of [
    [1, now],
    [2, now - MINUTE_MS],
    [1, now + 2_000],
  ] as const) {
    completeness.noteMessage({ producer, epoch: 1, at, next: 0, endedBefore: 1 });
  }
  await noted.refresh(now);
  const next = new Completeness();
  await new OpenProducers(world.pool, lane, { completeness: next, log }).load();
  expect(next.open).toEqual(completeness.open);
  expect(completeness.completeToMs()).toBe(now - MINUTE_MS);
  const text = "delete from click_producer where lane = $1";
  await world.pool.query({ text, values: [lane] });
  await noted.refresh(now);
  expect(completeness.completeToMs()).toBe(now + 2_000);
  completeness.noteMessage({ producer: 1, epoch: 1, at: now + 3_000, next: 0, endedBefore: 1 });
  await noted.refresh(now);
  expect(completeness.open).toEqual([{ producer: 1, epoch: 1, lastMessageMs: now + 3_000 }]);
  completeness.noteMessage({ producer: 1, epoch: 1, at: now + 4_000, next: 0, endedBefore: 2 });
  await noted.noteChanges();
  const last = new Completeness();
  await new OpenProducers(world.pool, lane, { completeness: last, log }).load();
  expect(last.open).toEqual([]);
});
