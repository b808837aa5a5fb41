import { z } from "zod";

/** The arguments of floor-redirect.ts. */
export const FloorOrder = z.object({
  port: z.int(),
  /** For the journal; it does not exist yet. */
  folder: z.string(),
  recordBytes: z.int(),
  /** The headers that the ingress sends with a redirect, as name and value. */
  headers: z.array(z.tuple([z.string(), z.string()])),
});
export type FloorOrder = z.infer<typeof FloorOrder>;
