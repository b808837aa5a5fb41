/**
 * What a lane may do now.
 * - `opening`: it asks what is stored; nothing may be written before that is known.
 * - `open`: batches are written.
 * - `draining`: it was told to close while open; the batch under way ends, then the rest is written.
 * - `stopping`: it was told to close while opening, or a write failed while draining; nothing more is written.
 * - `lost`: the lane is another writer's, or failed for good; nothing of it is written any more.
 */
export type LaneState = "opening" | "open" | "draining" | "stopping" | "lost";

/** `failed`: the outcome of a write is unknown. */
export type LaneEvent = "opened" | "failed" | "closed" | "lost";

/** States that an event does not name stay as they are. */
const NEXT: Readonly<Record<LaneEvent, Partial<Record<LaneState, LaneState>>>> = {
  opened: { opening: "open" },
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
