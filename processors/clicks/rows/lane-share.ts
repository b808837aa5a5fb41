import type { Lanes } from "../../../schemas/events/lanes.ts";

/** The offers of a lane, and where the clicks on them are. */
export type LaneShare = {
  /** The lane has the offers that these lanes assign to it. */
  readonly lanes: Lanes;
  /** Lanes whose rows contain clicks on these offers: the lane itself, and the lanes from which it was split. */
  readonly sources: readonly number[];
};
