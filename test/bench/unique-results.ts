import { z } from "zod";

/** What `unique-takes.js` prints. Processor times are of its process. */
export const UniqueTakes = z.object({
  /** As the memory counts them itself; for a Map the same as `residentBytes`. */
  bytes: z.number(),
  /** Growth of the process. */
  residentBytes: z.number(),
  /** Time of a new visit in the last tenth while the memory filled. */
  newNs: z.number(),
  /** Time of a new visit in a further tenth while as many expired. */
  steadyNs: z.number(),
  repeatedNs: z.number(),
  /** The most processor time of 1,000 takes while there is room. */
  pauseMs: z.number(),
  /** The same when a quarter of the visits must be forgotten; 0 for a Map, which forgets nothing. */
  forgetMs: z.number(),
});
export type UniqueTakes = z.infer<typeof UniqueTakes>;

/** What `unique-start.js` prints. */
export const UniqueStart = z.object({
  visits: z.number(),
  seconds: z.number(),
  processorSeconds: z.number(),
  bytes: z.number(),
  /** Growth of the process. */
  residentBytes: z.number(),
  /** The longest time in which the event loop did nothing else. */
  pauseMs: z.number(),
});
export type UniqueStart = z.infer<typeof UniqueStart>;
