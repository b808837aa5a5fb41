import type { InboundCall } from "./inbound-call.ts";

/** How many refusals of one kind get their own row in a window. */
const ROWS_PER_WINDOW = 60;
const WINDOW_MS = 60_000;
/** Kinds are combinations of workspace, endpoint and result, so there are usually far fewer. */
const KINDS_MAX = 10_000;

type Kind = { readonly startedAtMs: number; rows: number; more: number; last: InboundCall };

/**
 * Keeps a flood of refusals from filling the inbound log. In each minute, the first 60 refusals of a kind (workspace, endpoint,
 * result) get their own rows. The others share one row: the last refusal, with their number in its message. Each process that answers
 * strangers counts for itself.
 */
export class RefusalRows {
  readonly #kinds = new Map<string, Kind>();
  readonly #nowMs: () => number;

  /** `nowMs`: monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * True if the call gets its own row. Otherwise it is counted in a row of {@link takeDue}, or has none if there are already 10,000
   * kinds.
   */
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

  /** Shared rows of the windows that have ended; of all windows if `isEnd`. */
  takeDue(isEnd = false): InboundCall[] {
    const overMs = this.#nowMs() - WINDOW_MS;
    const due: InboundCall[] = [];
    for (const [key, { startedAtMs, more, last }] of this.#kinds) {
      if (startedAtMs > overMs && !isEnd) continue;
      this.#kinds.delete(key);
      if (more === 0) continue;
      const times = more === 1 ? "" : ` (${more} times in a minute)`;
      // One ID for many calls would mislead.
      const requestId = more === 1 ? last.requestId : undefined;
      due.push({ ...last, requestId, message: `${last.message}${times}` });
    }
    return due;
  }
}
