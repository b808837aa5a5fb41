/**
 * The state of a lane, which decides what it may do.
 * - `opening`: it queries what is stored; nothing may be written before that is known.
 * - `open`: batches are written.
 * - `draining`: it was closed while open; the batch under way ends, then the rest is written.
 * - `stopping`: it was closed while opening, or a write failed while draining. Nothing is written, unless the opening succeeds.
 * - `lost`: another writer has the lane, or the lane failed permanently; nothing more is written.
 */
export type LaneState = "opening" | "open" | "draining" | "stopping" | "lost";

/** `failed`: the outcome of a write is unknown. */
export type LaneEvent = "opened" | "failed" | "closed" | "lost";

/** A state that an event does not list stays the same. */
const NEXT: Readonly<Record<LaneEvent, Partial<Record<LaneState, LaneState>>>> = {
  // close() was called during the opening: what was read before can be written now.
  opened: { opening: "open", stopping: "draining" },
  failed: { open: "opening", draining: "stopping" },
  closed: { opening: "stopping", open: "draining" },
  lost: { opening: "lost", open: "lost", draining: "lost", stopping: "lost" },
};

export function nextState(state: LaneState, event: LaneEvent): LaneState {
  return NEXT[event][state] ?? state;
}

export function isEnding(state: LaneState): boolean {
  return state !== "opening" && state !== "open";
}
