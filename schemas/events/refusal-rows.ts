import type { InboundCall } from "./inbound-call.ts";

/** Rows of their own that one kind of refusal gets in a window. */
const ROWS_PER_WINDOW = 60;
const WINDOW_MS = 60_000;
/** Kinds are as many as workspaces, endpoints and result words: far fewer. */
const KINDS_MAX = 10_000;

type Kind = { readonly startedAtMs: number; rows: number; more: number; last: InboundCall };

/**
 * Keeps a flood of refusals from growing the inbound log, in each process that answers strangers: of one kind (workspace, endpoint,
 * result) the first 60 of a minute have a row each, and the others of that minute one row together, that of the last, which says
 * how many there were.
 */
export class RefusalRows {
  readonly #kinds = new Map<string, Kind>();
  readonly #nowMs: () => number;

  /** `nowMs`: monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether the call gets a row now; else it is counted for the row of {@link takeDue}. */
  admit(call: InboundCall): boolean {
    const key = `${call.workspaceId ?? 0} ${call.endpoint} ${call.result}`;
    const kind = this.#kinds.get(key);
    if (kind === undefined) {
      if (this.#kinds.size >= KINDS_MAX) return false;
      this.#kinds.set(key, { startedAtMs: this.#nowMs(), rows: 1, more: 0, last: call });
      return true;
    }
    if (kind.rows < ROWS_PER_WINDOW) {
      kind.rows += 1;
      return true;
    }
    kind.more += 1;
    kind.last = call;
    return false;
  }

  /** The rows of what was counted in the windows that are over; of all windows when `isEnd`. */
  takeDue(isEnd = false): InboundCall[] {
    const overMs = this.#nowMs() - WINDOW_MS;
    const due: InboundCall[] = [];
    for (const [key, { startedAtMs, more, last }] of this.#kinds) {
      if (startedAtMs > overMs && !isEnd) continue;
      this.#kinds.delete(key);
      if (more === 0) continue;
      const times = more === 1 ? "" : ` (${more} times in a minute)`;
      due.push({ ...last, message: `${last.message}${times}` });
    }
    return due;
  }
}
