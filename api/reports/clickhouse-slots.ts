import { setTimeout as pause } from "node:timers/promises";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { InstallationPlaces } from "./installation-places.ts";
import { ReportSlots, type SlotHolder, type SlotLimits, slotRefusal } from "./report-slots.ts";

const REPORTS: SlotLimits = {
  perKey: 4,
  perWorkspace: 8,
  total: 10,
  waitMs: 2_000,
  waitingPerKey: 16,
  waitingTotal: 256,
};
/** A look-up takes milliseconds, but up to 2 s while a click is on its way: four at a time would refuse a busy integration. */
const CLICKS: SlotLimits = {
  perKey: 16,
  perWorkspace: 24,
  total: 30,
  waitMs: 2_000,
  waitingPerKey: 64,
  waitingTotal: 256,
};
/** Connections to ClickHouse that a process needs for its slots. */
export const CLICKHOUSE_CONNECTIONS = REPORTS.total + CLICKS.total;

/** Resolves to the function that gives the place back; see {@link ReportSlots.take}. */
type Places = Pick<ReportSlots, "take">;
export type ClickhouseSlots = { readonly reports: Places; readonly clicks: Places };

/** The slots of a process: those of reports are counted over all processes besides (G205). */
export function openSlots(db: Queryable): ClickhouseSlots & { close(): Promise<void> } {
  const installation = new InstallationPlaces(db, REPORTS);
  return {
    reports: new SharedReportSlots(new ReportSlots(REPORTS), installation, REPORTS),
    clicks: new ReportSlots(CLICKS),
    close: () => installation.close(),
  };
}

/** How often who waits looks whether another process has given a place back: nobody tells it. */
const POLL_MS = 50;

/**
 * Places of this process, which decide whose turn it is, and with each of them one of the installation. Who waits for another process
 * keeps his place here: at most as many look for one as this process has places.
 */
class SharedReportSlots {
  readonly #own: ReportSlots;
  readonly #installation: InstallationPlaces;
  readonly #limits: SlotLimits;

  constructor(own: ReportSlots, installation: InstallationPlaces, limits: SlotLimits) {
    this.#own = own;
    this.#installation = installation;
    this.#limits = limits;
  }

  /** As {@link ReportSlots.take}; both waits together take `waitMs`. Rejects when Postgres is away. */
  async take(holder: SlotHolder, left: AbortSignal): Promise<() => void> {
    const deadlineMs = performance.now() + this.#limits.waitMs;
    const giveBack = await this.#own.take(holder, left);
    try {
      for (;;) {
        const giveShared = await this.#installation.tryTake(holder);
        if (giveShared !== undefined && left.aborted) giveShared();
        left.throwIfAborted();
        if (giveShared !== undefined) {
          let isHeld = true;
          return () => {
            if (isHeld) giveShared();
            isHeld = false;
            giveBack();
          };
        }
        if (performance.now() >= deadlineMs) throw slotRefusal(this.#limits, true);
        await pause(POLL_MS);
      }
    } catch (error) {
      giveBack();
      throw error;
    }
  }
}
