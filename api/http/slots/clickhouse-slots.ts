import { setTimeout as pause } from "node:timers/promises";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { InstallationSlots } from "./installation-slots.ts";
import { ReportSlots, type SlotHolder, type SlotLimits, slotRefusal } from "./report-slots.ts";

const REPORTS: SlotLimits = {
  perKey: 4,
  perWorkspace: 8,
  total: 10,
  waitMs: 2_000,
  waitingPerKey: 16,
  waitingTotal: 256,
};
/**
 * A look-up takes milliseconds, but up to 2 s while a click is in flight. With only four slots a busy integration would be refused.
 */
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

/** `take` resolves to the function that releases the slot; see {@link ReportSlots.take}. */
type Slots = Pick<ReportSlots, "take">;
export type ClickhouseSlots = { readonly reports: Slots; readonly clicks: Slots };

/** The slots of a process. Slots of reports are also counted over all processes (G205). */
export function openSlots(db: Queryable): ClickhouseSlots & { close(): Promise<void> } {
  const installation = new InstallationSlots(db, REPORTS);
  return {
    reports: new SharedReportSlots(new ReportSlots(REPORTS), installation, REPORTS),
    clicks: new ReportSlots(CLICKS),
    close: () => installation.close(),
  };
}

/** How often a waiting request checks whether another process has released a slot. Other processes do not notify it. */
const POLL_MS = 50;

/**
 * Takes a slot of this process, where requests wait in order, and then a slot of the installation. A request that waits for the
 * installation keeps its slot of this process, so at most as many requests poll as this process has slots.
 */
class SharedReportSlots {
  readonly #own: ReportSlots;
  readonly #installation: InstallationSlots;
  readonly #limits: SlotLimits;

  constructor(own: ReportSlots, installation: InstallationSlots, limits: SlotLimits) {
    this.#own = own;
    this.#installation = installation;
    this.#limits = limits;
  }

  /** Like {@link ReportSlots.take}; both waits together take at most `waitMs`. Rejects when Postgres is away. */
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
