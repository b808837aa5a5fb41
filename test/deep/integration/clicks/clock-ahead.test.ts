import { afterEach, expect, test } from "vitest";
import type { CountedCap } from "../../../../processors/clicks/caps/click-caps.ts";
import { selectCapClicks } from "../../../../processors/clicks/caps/stored-cap-clicks.ts";
import { capBucket } from "../../../../schemas/catalog/cap-bucket.ts";
import { aClick, type ClickProducer } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf, type Writer } from "../../../integration/clicks/click-world.ts";
import { aCatalog } from "../../../samples/a-catalog.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };
const VISITORS = 20;
/** The times of two cases are further apart than any of their clocks is wrong. */
const CASE_MS = 100 * HOUR_MS;
let cases = 0;
let writer: Writer;

const world = await forThisFile(ClickWorld.open());

afterEach(async () => {
  await writer.close();
});

/** A clock that writer and producer share, and visitors who click at its time. */
class Visitors {
  nowMs = 0;
  readonly clock = { nowMs: (): number => this.nowMs };
  readonly #producer: ClickProducer;
  readonly #offerId: number;

  constructor(producer: ClickProducer, offerId: number) {
    this.#producer = producer;
    this.#offerId = offerId;
  }

  /** Each visitor clicks once at `atMs`; returns how many clicks were unique. */
  async click(firstVisitor: number, atMs: number): Promise<number> {
    this.nowMs = atMs;
    const producer = this.#producer;
    const from = producer.lines.length;
    for (let visitor = firstVisitor; visitor < firstVisitor + VISITORS; visitor += 1)
      producer.record(aClick({ offer_id: this.#offerId, visitor, ts: atMs }));
    await producer.ship(from, producer.lines.length, { at: atMs });
    await world.untilSettled(producer);
    const [row] = await world.facts<{ uniques: number }>(
      `select countIf(is_unique) as uniques from click
       where _producer = {producer: UInt16} and _position >= {from: UInt64}`,
      { producer: producer.producer, from },
    );
    return row?.uniques ?? -1;
  }
}

const RESTARTS = ["never", "while the clock is ahead", "after it went back"] as const;

test.each([1, 30].flatMap((hours) => RESTARTS.map((restart) => [hours, restart] as const)))(
  "a clock %i h ahead pays no visitor twice and excludes none longer; restart: %s (#11, G87)",
  { timeout: 120_000 },
  async (hours, restart) => {
    cases += 1;
    const [known, fresh, others] = [1_000, 2_000, 3_000];
    const offerId = 4 * cases;
    const catalog = aCatalog({ offers: [{ id: offerId, unique_click_hours: 24 }] });
    const visitors = new Visitors(world.producer({ producer: 10 + cases }), offerId);
    const startMs = Date.now() - 30 * DAY_MS + cases * CASE_MS;
    visitors.nowMs = startMs - 23.5 * HOUR_MS;
    const options = { catalog, clock: visitors.clock };
    writer = await world.startWriter(options);
    const restarted = async (): Promise<void> => {
      await writer.close();
      writer = await world.startWriter(options);
    };
    expect(await visitors.click(known, startMs - 23.5 * HOUR_MS)).toBe(VISITORS);
    expect(await visitors.click(fresh, startMs + hours * HOUR_MS)).toBe(VISITORS);
    if (restart === "while the clock is ahead") await restarted();
    expect(await visitors.click(others, startMs + hours * HOUR_MS + 1)).toBe(VISITORS);
    // The clock is right again; the next click has no later time than those before it.
    const backMs = startMs + 10 * MINUTE_MS;
    expect(await visitors.click(fresh, backMs)).toBe(0);
    if (restart === "after it went back") await restarted();
    else {
      const back = (): number => metricOf(writer.metrics, "clicks_clock_went_back_total");
      await until("the writer has noticed it", () => back() > 0, PATIENCE);
    }
    expect(await visitors.click(known, backMs)).toBe(0);
    expect(await visitors.click(fresh, backMs + DAY_MS - 1)).toBe(0);
    expect(await visitors.click(fresh, backMs + DAY_MS)).toBe(VISITORS);
  },
);

test("stored clicks of a clock a month ahead count against no cap of tomorrow (#11, G39)", async () => {
  const offerId = 400;
  const nowMs = Date.now();
  const catalog = aCatalog({ offers: [{ id: offerId, caps: { clicks: { daily: 5 } } }] });
  writer = await world.startWriter({ catalog });
  const producer = world.producer({ producer: 9 });
  const days = [0, 1, 30, 30];
  for (const day of days) producer.record(aClick({ offer_id: offerId, ts: nowMs + day * DAY_MS }));
  await producer.shipAll();
  await world.untilSettled(producer);
  const cap: CountedCap = {
    name: "cap",
    period: "daily",
    timezone: "UTC",
    limit: 5,
    offers: catalog.offers,
  };
  const today = capBucket("daily", "UTC", nowMs);
  const span = { key: "daily", period: cap.period, timezone: cap.timezone, caps: [cap] };
  const untilMs = performance.now() + 10_000;
  const stored = await selectCapClicks([world.clickhouse], [0], span, { nowMs, untilMs });
  expect(stored.get("cap")).toEqual([
    { offerId, bucket: today, clicks: 1 },
    { offerId, bucket: today + 1, clicks: 1 },
    { offerId, bucket: Number.POSITIVE_INFINITY, clicks: 2 },
  ]);
});
