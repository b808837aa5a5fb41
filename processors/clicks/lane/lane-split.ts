import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Intake } from "../intake/intake.ts";
import type { Batch } from "../rows/batch.ts";
import { type LaneLease, LeaseLostError } from "./lane-lease.ts";
import { noteShare } from "./lane-share.ts";

/** An ingress that starts while the number of lanes changes is heard within this time. */
const SETTLED_MS = 2_000;
/** Time between two attempts to write to Postgres. */
const RETRY_MS = 1_000;

type SplitOptions = {
  readonly db: Queryable;
  readonly catalog: Catalog;
  readonly intake: Intake;
  readonly lease: LaneLease;
  readonly log: Log;
  /** Whether everything in the stream was read. */
  readonly isCaughtUp: () => boolean;
};

/**
 * Leaves offers of a lane to new lanes, when the installation gets more lanes. This order keeps a visit from being unique in both:
 * 1. every producer that has not ended puts their clicks into the new lanes, and all its earlier clicks were read;
 * 2. this lane decides no uniqueness of these offers any more: a click that still comes is not unique, and not paid;
 * 3. what was decided before is stored;
 * 4. Postgres says so, and the new lanes read from the table what this lane decided.
 * A crash before 4 begins again at 1. A producer that is away holds up 1 until it returns, ends, or is given up.
 */
export class LaneSplit {
  readonly #options: SplitOptions;
  #readySinceMs: number | undefined;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  /** Batches with decisions about the offers that are left; undefined before step 2 and after step 4. */
  #before: readonly Batch[] | undefined;

  constructor(options: SplitOptions) {
    this.#options = options;
  }

  /** Takes the next step, if it is time for it. Call it between two inserts. @throws {LeaseLostError} */
  async advance(): Promise<void> {
    const { catalog, intake } = this.#options;
    if (this.#before === undefined) {
      if (intake.share.lanes.count >= catalog.lanes.count || !this.#isReady()) return;
      this.#before = intake.leaveOffers(catalog.lanes);
    }
    if (this.#before.some((batch) => intake.batches.includes(batch))) return;
    if (performance.now() < this.#retryAtMs) return;
    await this.#note();
  }

  /** While Postgres is away the offers have no lane, and their clicks wait in the stream. */
  async #note(): Promise<void> {
    const { db, intake, lease, log } = this.#options;
    const { lanes } = intake.share;
    try {
      await noteShare(db, lease, lanes);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      this.#retryAtMs = performance.now() + RETRY_MS;
      log.warn({ err: error }, "clicks.lane-split-not-noted");
      return;
    }
    this.#before = undefined;
    this.#readySinceMs = undefined;
    log.info({ lanes: lanes.count }, "clicks.lane-split");
  }

  #isReady(): boolean {
    const { catalog, intake, isCaughtUp } = this.#options;
    const nowMs = performance.now();
    const isReady = intake.completeness.areRoutedTo(catalog.lanes.count) && !intake.hasOpenHoles;
    this.#readySinceMs = isReady ? (this.#readySinceMs ?? nowMs) : undefined;
    if (this.#readySinceMs === undefined || nowMs - this.#readySinceMs < SETTLED_MS) return false;
    return isCaughtUp();
  }
}
