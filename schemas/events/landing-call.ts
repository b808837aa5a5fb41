import { z } from "zod";

/** What became of a call of `/lp`: the source of its click (LP-019), else a word of the inbound log (section 7.5). */
export const LANDING_RESULTS = [
  "param",
  "gclid",
  "gbraid",
  "wbraid",
  "organic",
  "direct",
  "malformed",
  "unknown_offer",
  "unavailable",
  "error",
] as const;
export type LandingResult = (typeof LANDING_RESULTS)[number];

/** A call of `/lp` for the inbound log (G178): told by ingress once it is answered, and lost if nobody listens. */
export const LandingCall = z.object({
  /** Null while nothing tells whose visitor it was. */
  workspaceId: z.int().positive().nullable(),
  receivedAtMs: z.int(),
  /** As the workspace keeps addresses; "" when unknown. */
  ip: z.string(),
  /** Identifiers and codes of the call. No URL: its query may name a person (P31). */
  params: z.record(z.string(), z.string()),
  httpStatus: z.int(),
  result: z.enum(LANDING_RESULTS),
  clickId: z.string().nullable(),
  /** The error that the page was told, "" without one. */
  message: z.string(),
});
export type LandingCall = z.infer<typeof LandingCall>;
