import type { GeoReader } from "../request/geo.ts";
import { type DemoAddresses, drawAddresses } from "./demo-addresses.ts";
import { DAY_MS, type PlannedDays, planDays } from "./plan-traffic.ts";
import { SeededRandom } from "./seeded-random.ts";

const DAYS = 30;
/** After a kill, at most the rest of one part is missing for good. */
const PART_DAYS = 10;
export const DEMO_SEED = 20_170_401;

/** The demo's month of traffic, in parts. The same end and geographic database give the same visits and orders. */
export class PlannedMonth {
  readonly #endMs: number;
  readonly #addresses: DemoAddresses;
  /** When each part begins, the oldest first: a midnight in UTC. */
  readonly #beginsMs: readonly number[];

  constructor(endMs: number, geo: GeoReader) {
    this.#endMs = endMs;
    this.#addresses = drawAddresses(geo, new SeededRandom(DEMO_SEED));
    const firstMs = Math.floor(endMs / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS;
    const parts = Math.ceil((endMs - firstMs) / (PART_DAYS * DAY_MS));
    this.#beginsMs = Array.from(
      { length: parts },
      (_, part) => firstMs + part * PART_DAYS * DAY_MS,
    );
  }

  get parts(): number {
    return this.#beginsMs.length;
  }

  planPart(part: number): PlannedDays {
    const { [part]: fromMs = this.#endMs, [part + 1]: untilMs = this.#endMs } = this.#beginsMs;
    const random = new SeededRandom(DEMO_SEED + 1 + part);
    return planDays({ fromMs, untilMs, endMs: this.#endMs }, this.#addresses, random);
  }
}
