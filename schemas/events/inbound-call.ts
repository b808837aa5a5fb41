import { z } from "zod";
import { POSTBACK_RESULTS, type PostbackResult } from "./postback-request.ts";

/** Where the click of a call of `/lp` comes from (LP-019): in the log it stands in the place of a result word. */
const LANDING_SOURCES = ["param", "gclid", "gbraid", "wbraid", "organic", "direct"] as const;
/** What became of a call of `/lp`: the source of its click, else a word of the inbound log. */
export type LandingResult =
  | (typeof LANDING_SOURCES)[number]
  | Extract<PostbackResult, "malformed" | "unknown_offer" | "unavailable" | "error">;

/** A call for the inbound log that ingress has answered by itself (G178): every one of `/lp`, and what it refused elsewhere. */
export const InboundCall = z.object({
  endpoint: z.enum(["pb", "px", "px.js", "lp"]),
  /** Null when the workspace of the call is not known. */
  workspaceId: z.int().positive().nullable(),
  receivedAtMs: z.int(),
  /** Of the sender, whole: how much of it is kept is decided where it is stored. */
  ip: z.string(),
  /** As they came; of `/lp` identifiers and codes only: a page's URL may name a person (P31). */
  params: z.record(z.string(), z.string()),
  httpStatus: z.int(),
  result: z.enum([...POSTBACK_RESULTS, ...LANDING_SOURCES]),
  clickId: z.string().nullable(),
  /** The error in the answer, "" without one. */
  message: z.string(),
});
export type InboundCall = z.infer<typeof InboundCall>;

/** Calls of one ingress process, sent together. */
export const InboundCalls = z.array(InboundCall).max(1_000);

/** `kept`: in Postgres · `unavailable`: send them again · `refused`: they cannot be stored, do not send them again. */
export const InboundReply = z.object({ kind: z.enum(["kept", "unavailable", "refused"]) });
export type InboundReply = z.infer<typeof InboundReply>;
