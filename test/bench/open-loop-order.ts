import { z } from "zod";

/** The arguments of open-loop.ts. */
export const OpenLoopOrder = z.object({
  port: z.int(),
  perSecond: z.number(),
  /** Requests to send; `texts` are repeated in turn. */
  requests: z.int(),
  texts: z.array(z.string()),
  /** Whether to use a whole core to send each request at its very time; otherwise it sends what is due each millisecond. */
  spins: z.boolean(),
});
export type OpenLoopOrder = z.infer<typeof OpenLoopOrder>;

export const OpenLoopResult = z.object({
  perSecond: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
  /** Answers by status. */
  statuses: z.record(z.string(), z.int()),
});
export type OpenLoopResult = z.infer<typeof OpenLoopResult>;
