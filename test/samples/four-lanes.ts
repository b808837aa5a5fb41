import { Lanes } from "../../schemas/events/lanes.ts";

/** The lanes of a new installation, which all tests use that choose no other number. */
export const FOUR_LANES = new Lanes(4);
