import type { Lanes } from "./lanes.ts";

/**
 * The lanes that a producer of clicks uses. When the installation gets more lanes, it first announces itself in the new ones, so that their
 * writers wait for its clicks (G162), and only then puts clicks there.
 */
export type LaneSource = {
  /** Lanes that the installation has now. Their number may grow. */
  readonly present: () => Lanes;
  /** Lanes among which new clicks are distributed. */
  readonly routed: () => Lanes;
  /** From now on new clicks are distributed among these. */
  readonly route: (lanes: Lanes) => void;
};

/** For a producer that takes no new clicks, or works too briefly to follow a change. */
export function fixedLanes(lanes: Lanes): LaneSource {
  return { present: () => lanes, routed: () => lanes, route: () => undefined };
}
