import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import { CAP_PERIODS, type CapPeriod } from "../../../schemas/catalog/records.ts";
import { ClickTotals } from "../../../schemas/events/click-notice.ts";
import type { Lanes } from "../../../schemas/events/lanes.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { ClickCounts } from "../../operation/operation.ts";

/** Writers report all totals every 5 s. */
const SILENT_MS = 15_000;
/** Caps remembered, about 200 bytes each. Beyond that all are forgotten, and reported again within seconds. */
const CAPS_MAX = 200_000;

type LaneTotal = { bucket: number; clicks: number };

type CapTotals = {
  /** Number of lanes among which the offers were divided. */
  lanes: number;
  /** By lane, because a group or an advertiser has offers in several lanes. */
  readonly byLane: Map<number, LaneTotal>;
  /** The sum before a lane was split: each total begins anew afterwards and includes these clicks. */
  before: LaneTotal;
};

const NOTHING: LaneTotal = { bucket: 0, clicks: 0 };

/**
 * Follows the totals of click caps that the click writers publish, the same that ingress enforces. What is not known yet, or no
 * longer, is undefined and not zero.
 */
export class ClickTotalsFeed {
  readonly #nats: () => Nats | undefined;
  readonly #log: Log;
  #followed: Nats | undefined;
  /** By cap. */
  readonly #totals = new Map<string, CapTotals>();
  /** When each lane last reported all of its totals, monotonic ms. */
  readonly #wholeAtMs = new Map<number, number>();

  constructor(nats: () => Nats | undefined, log: Log) {
    this.#nats = nats;
    this.#log = log;
  }

  /** Begins to follow once NATS is reached. Call it again before each use: it does nothing then. */
  follow(): void {
    const nats = this.#nats();
    if (nats === undefined || nats === this.#followed || nats.connection.isClosed()) return;
    this.#followed = nats;
    nats.connection.subscribe(nats.subjects.clickTotals, {
      callback: (error, message) => {
        if (error !== null) {
          this.#log.error({ err: error }, "click-totals.subscription-failed");
          return;
        }
        try {
          this.#note(ClickTotals.parse(message.json()));
        } catch (fault) {
          this.#log.error({ err: fault }, "click-totals.undecodable");
        }
      },
    });
  }

  /** Every counter in the period of `nowMs`; a cap that is missing has no clicks. Undefined while a lane is silent. */
  counts(lanes: Lanes, timezone: string, nowMs: number): ClickCounts | undefined {
    this.follow();
    const earliestMs = performance.now() - SILENT_MS;
    const isWhole = lanes.clicks.every(
      (lane) => (this.#wholeAtMs.get(lane) ?? Number.NEGATIVE_INFINITY) >= earliestMs,
    );
    if (!isWhole) return undefined;
    const buckets = new Map<string, number>(
      CAP_PERIODS.map((period) => [period, capBucket(period, timezone, nowMs)]),
    );
    const caps: string[] = [];
    const clicks: number[] = [];
    for (const [cap, { byLane, before }] of this.#totals) {
      const bucket = buckets.get(periodOf(cap));
      const inBucket = (total: LaneTotal): number => (total.bucket === bucket ? total.clicks : 0);
      const sum = Math.max(inBucket(before), sumOf([...byLane.values()].map(inBucket)));
      if (sum === 0) continue;
      caps.push(cap);
      clicks.push(sum);
    }
    return { caps, clicks };
  }

  #note({ lane, lanes, totals, isWhole }: ClickTotals): void {
    if (this.#totals.size > CAPS_MAX) {
      this.#totals.clear();
      this.#wholeAtMs.clear();
    }
    for (const { cap, bucket, clicks } of totals) {
      const counted = this.#totals.get(cap) ?? {
        lanes,
        byLane: new Map<number, LaneTotal>(),
        before: NOTHING,
      };
      if (lanes < counted.lanes) continue;
      if (lanes > counted.lanes) splitTotals(counted, lanes);
      const { byLane } = counted;
      const known = byLane.get(lane);
      // A total of a period never falls, and may arrive late.
      if (known === undefined || bucket > known.bucket) byLane.set(lane, { bucket, clicks });
      else if (bucket === known.bucket) known.clicks = Math.max(known.clicks, clicks);
      this.#totals.set(cap, counted);
    }
    if (isWhole) this.#wholeAtMs.set(lane, performance.now());
  }
}

function splitTotals(counted: CapTotals, lanes: number): void {
  const totals = [...counted.byLane.values()];
  const bucket = Math.max(...totals.map((total) => total.bucket));
  const clicks = sumOf(totals.map((total) => (total.bucket === bucket ? total.clicks : 0)));
  counted.before = { bucket, clicks };
  counted.byLane.clear();
  counted.lanes = lanes;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The last part of a click cap's name (`capName`). */
function periodOf(cap: string): CapPeriod | "" {
  const word = cap.slice(cap.lastIndexOf("/") + 1);
  return CAP_PERIODS.find((period) => period === word) ?? "";
}
