import { z } from "zod";

/** The arguments of floor-redirect.ts. */
export const FloorOrder = z.object({
  port: z.int(),
  /** For the journal. Does not exist. */
  folder: z.string(),
  recordBytes: z.int(),
  /** Of a redirect of the ingress, as name and value. */
  headers: z.array(z.tuple([z.string(), z.string()])),
});
export type FloorOrder = z.infer<typeof FloorOrder>;
