import { z } from "zod";

/** The arguments of open-loop.pl. */
export const OpenLoopOrder = z.object({
  port: z.int(),
  perSecond: z.number(),
  /** Requests to send; `texts` are repeated in turn. */
  requests: z.int(),
  texts: z.array(z.string()),
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
