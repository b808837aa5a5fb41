import { z } from "zod";
import type { PostbackResult } from "./postback-request.ts";

/** How `/lp` found the click (LP-019). The inbound log has it as the result of the call. */
const LANDING_SOURCES = ["param", "gclid", "gbraid", "wbraid", "organic", "direct"] as const;
/** The result of a call of `/lp`: the source of its click, or the reason why there is none. */
export const LANDING_RESULTS = [
  ...LANDING_SOURCES,
  "malformed",
  "unknown_offer",
  "unavailable",
  "error",
] as const satisfies readonly ((typeof LANDING_SOURCES)[number] | PostbackResult)[];
export type LandingResult = (typeof LANDING_RESULTS)[number];

/** Results of visits and reports that led nowhere (G242): a link without offer or partner, and a path that is not ours. */
export const STRAY_RESULTS = ["unknown_link", "unknown_path"] as const;
export type StrayResult = (typeof STRAY_RESULTS)[number];

/** What an ingress of this release answers itself, and the result that it gives the call. */
export type CallEndpoint = "pb" | "px" | "px.js" | "lp" | "link" | "path";
export type CallResult = PostbackResult | LandingResult | StrayResult;

const KIND_LENGTH_MAX = 40;

/** A call that ingress answered itself, for the inbound log (G178): each call of `/lp`, refused calls of the other paths, and visits that led nowhere. */
export const InboundCall = z.object({
  /** A {@link CallEndpoint}, or an endpoint of a newer ingress: the log stores it as it is. */
  endpoint: z.string().min(1).max(KIND_LENGTH_MAX),
  /** Null if the workspace of the call is unknown. */
  workspaceId: z.int().positive().nullable(),
  /** Of the call; null for calls that share a row. */
  requestId: z.string().max(64).nullish(),
  receivedAtMs: z.int(),
  /** The sender's whole address. It is truncated when it is stored. */
  ip: z.string(),
  /** As sent; for `/lp` only identifiers and codes, because a page's URL may identify a person (P31). */
  params: z.record(z.string(), z.string()),
  httpStatus: z.int(),
  /** A {@link CallResult}, or a result of a newer ingress. */
  result: z.string().min(1).max(KIND_LENGTH_MAX),
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
