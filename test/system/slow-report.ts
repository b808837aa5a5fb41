import { z } from "zod";

/** What slow-clients.ts prints once a second as a line of JSON. */
export const SlowReport = z.object({
  open: z.number(),
  /** Connections that the server ended. */
  ended: z.number(),
  /** The greatest age of a connection, ended by the server or still open. */
  oldestMs: z.number(),
});
export type SlowReport = z.infer<typeof SlowReport>;
