import { CLOSING_LANE } from "../../../../schemas/clickhouse/closing-lane.ts";
import { aClick, type ClickProducer } from "../../../integration/clicks/click-producer.ts";
import type { ClickWorld } from "../../../integration/clicks/click-world.ts";
import { IS_FULL } from "../../../promises/report-cases.ts";
import { randomOf } from "../../../system/seed.ts";
import { pause } from "../../../system/service.ts";

const CLICKS_PER_STEP_MAX = 60;
const VISITORS = 500;
/** Some 5,000 clicks a second over all producers; in CI 600. */
const STEP_MS = IS_FULL ? 45 : 400;
/** Limits the messages of the last shipment, which has all records: with one each it would be 75,000 after ten minutes. */
const LAST_BATCHES_MAX = 4_000;
const HALF_MINUTE_MS = 30_000;

/**
 * The worst that ingress processes do: batches of any size, some twice, some cut differently, some out of order, and some
 * only when the writer asks for them. The times of clicks are on both sides of midnight between two months.
 */
export class ClickTraffic {
  readonly producers: readonly ClickProducer[];
  readonly #random: () => number;
  readonly #midnightMs: number;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(world: ClickWorld, seed: number) {
    this.#random = randomOf(seed);
    const now = new Date();
    this.#midnightMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    this.producers = [0, 1, 2, 3].flatMap((lane) =>
      [1, 2].map((producer) => world.producer({ lane, producer })),
    );
  }

  get clicks(): number {
    return this.producers.reduce((sum, { lines }) => sum + lines.length, 0);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Stops, and ships everything that was left out. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    for (const producer of this.producers) {
      const least = Math.ceil(producer.lines.length / LAST_BATCHES_MAX);
      await producer.shipAll(least + this.#below(200));
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      for (const producer of this.producers) await this.#step(producer);
      await pause(STEP_MS);
    }
  }

  async #step(producer: ClickProducer): Promise<void> {
    const first = producer.lines.length;
    for (let count = 1 + this.#below(CLICKS_PER_STEP_MAX); count > 0; count -= 1) {
      producer.record(
        aClick({
          ts: this.#midnightMs - HALF_MINUTE_MS + this.#below(2 * HALF_MINUTE_MS),
          offer_id: 4 + producer.lane,
          visitor: 1 + this.#below(VISITORS),
        }),
      );
    }
    const end = producer.lines.length;
    const fate = this.#random();
    if (fate < 0.05) return;
    if (fate < 0.15) await producer.ship(Math.max(0, first - this.#below(100)), end);
    else if (fate < 0.2) {
      const middle = first + this.#below(end - first);
      await producer.ship(middle, end);
      await producer.ship(first, middle);
    } else await producer.ship(first, end);
    if (fate > 0.9) await producer.ship(first, end);
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }
}

/** Counts of the table for P9: each click is stored once, and each visit has one unique click. Closing rows are no clicks. */
export async function trafficCounts(world: ClickWorld): Promise<{
  rows: number;
  ids: number;
  positions: number;
  uniques: number;
  visits: number;
  months: number;
}> {
  const [row] = await world.facts<Awaited<ReturnType<typeof trafficCounts>>>(
    `select count() as rows, uniqExact(click_id) as ids,
       uniqExact(_lane, _producer, _epoch, _position) as positions, countIf(is_unique) as uniques,
       uniqExact(offer_id, affiliate_id, visitor) as visits, uniqExact(toYYYYMM(ts)) as months
     from click where _lane != {closing: UInt8}`,
    { closing: CLOSING_LANE },
  );
  if (row === undefined) throw new Error("no row to an aggregate");
  return row;
}

/** The counts that `trafficCounts` must return once everything is stored. */
export function trafficExpected(traffic: ClickTraffic): Awaited<ReturnType<typeof trafficCounts>> {
  const lines = traffic.producers.flatMap((producer) => producer.lines);
  const visits = new Set(
    lines.map((line) => /"offer_id":\d+.*"affiliate_id":\d+.*"visitor":\d+/.exec(line)?.[0]),
  );
  const [rows, uniques] = [lines.length, visits.size];
  return { rows, ids: rows, positions: rows, uniques, visits: uniques, months: 2 };
}
