import { z } from "zod";

/** What slow-clients.ts tells once a second, a line of JSON. */
export const SlowReport = z.object({
  open: z.number(),
  /** Connections that the server ended. */
  ended: z.number(),
  /** Of a connection that the server ended, or of one that is still open. */
  oldestMs: z.number(),
});
export type SlowReport = z.infer<typeof SlowReport>;
