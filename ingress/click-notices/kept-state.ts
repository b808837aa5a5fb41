import { readFile, rename, writeFile } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { CapReached, ClickTotal } from "../../schemas/events/click-notice.ts";
import { LANE_COUNTS, type Lanes } from "../../schemas/events/lanes.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { LocalClickState } from "../decide/click-state.ts";

const KEEP_MS = 500;
/** At most this many totals, and as many reached caps. The click writers and the conversion processors report the rest after a start. */
const KEPT_MAX = 20_000;
/** Other work runs between two lines, so a visitor waits for less than 1 ms. */
const ENTRIES_PER_LINE = 1_000;

const Head = z.object({
  epoch: z.int(),
  positions: z.array(z.int()).max(Math.max(...LANE_COUNTS)),
});
const Lines = z.object({ totals: z.array(ClickTotal), reached: z.array(CapReached) });

/** What a process saved about click caps and reached caps. */
export type KeptState = z.infer<typeof Lines> & {
  /** Epoch of the journal at that time, and by click lane the position of the first record that is not counted here. */
  readonly epoch: number;
  readonly positions: readonly number[];
};

export type StateKeeperOptions = {
  readonly path: string;
  readonly state: LocalClickState;
  readonly epoch: number;
  readonly lanes: () => Lanes;
  readonly journal: { nextPosition(lane: number): number };
  readonly log: Log;
};

/**
 * Saves totals of click caps and reached caps to a file, twice a second while they change, so that the next process knows them
 * before its first click, also without NATS. Clicks after the file was written are in the journal (`recall-state.ts`). The file is
 * not synced: it must survive a kill, and after a power cut the other processes report its content.
 */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #kept = 0;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#writing ??= this.#keep().finally(() => {
        this.#writing = undefined;
      });
    }, KEEP_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.#keep();
  }

  /** Never throws. Without the file, the next process gets this state from the other processes, only later. */
  async #keep(): Promise<void> {
    const { path, state, epoch, lanes, journal, log } = this.#options;
    const { changes } = state;
    if (changes === this.#kept) return;
    // In one turn, so that the totals contain exactly the records before these positions.
    const positions = lanes().clicks.map((lane) => journal.nextPosition(lane));
    const { totals, reached } = state.keep(KEPT_MAX);
    try {
      const lines = [JSON.stringify({ epoch, positions })];
      for (let from = 0; from < Math.max(totals.length, reached.length); from += ENTRIES_PER_LINE) {
        const to = from + ENTRIES_PER_LINE;
        lines.push(
          JSON.stringify({ totals: totals.slice(from, to), reached: reached.slice(from, to) }),
        );
        await nextTurn();
      }
      await writeFile(`${path}.new`, `${lines.join("\n")}\n`, { mode: 0o600 });
      await rename(`${path}.new`, path);
      this.#kept = changes;
    } catch (error) {
      log.warn({ err: error }, "notices.state-not-kept");
    }
  }
}

/** Reads what the process before this one saved; undefined when there is nothing readable. */
export async function readKeptState(path: string, log: Log): Promise<KeptState | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isMissing) log.warn({ err: error }, "notices.kept-state-unreadable");
    return undefined;
  }
  try {
    const [head, ...rest] = text.trimEnd().split("\n");
    const lines = rest.map((line) => Lines.parse(JSON.parse(line)));
    return {
      ...Head.parse(JSON.parse(head ?? "")),
      totals: lines.flatMap(({ totals }) => totals),
      reached: lines.flatMap(({ reached }) => reached),
    };
  } catch (error) {
    log.warn({ err: error }, "notices.kept-state-unreadable");
    return undefined;
  }
}
