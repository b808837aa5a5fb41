import { z } from "zod";

/**
 * What the api asks of the conversion processors: `POST /conversions` and both PATCHes. They are judged where
 * all conversions are judged; the api has checked shape and role.
 */
const actor = { workspaceId: z.int(), keyId: z.int(), nowMs: z.int() };

export const ConversionCommand = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("create"),
    ...actor,
    offerId: z.int(),
    affiliateId: z.int().nullable(),
    clickId: z.string().nullable(),
    eventCode: z.string(),
    /** Money as decimal text with at most four places; null where it is resolved by the terms. */
    saleAmount: z.string().nullable(),
    payout: z.string().nullable(),
    revenue: z.string().nullable(),
    currency: z.string().nullable(),
    status: z.enum(["approved", "pending", "rejected"]).nullable(),
    convTsMs: z.int().nullable(),
    advTxid: z.string().nullable(),
    notes: z.string(),
    params: z.record(z.string(), z.string()),
    /** sub1..sub5 and source_id, for a conversion without a click. */
    click: z.record(z.string(), z.string()),
  }),
  z.object({
    kind: z.literal("set-status"),
    ...actor,
    ids: z.array(z.uuid()).min(1).max(500),
    /** One id of `PATCH /conversions/{id}`: a duplicate is refused there and skipped in a bulk. */
    bulk: z.boolean(),
    status: z.enum(["approved", "pending", "rejected"]),
    reason: z.string(),
    notes: z.string().nullable(),
  }),
]);
export type ConversionCommand = z.infer<typeof ConversionCommand>;

export const ConversionCommandReply = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("created"), id: z.string() }),
  z.object({
    kind: z.literal("changed"),
    updated: z.array(z.object({ id: z.string(), status: z.string(), status_reason: z.string() })),
    notFound: z.array(z.string()),
    skippedDuplicates: z.int(),
  }),
  /** A refusal by the rules: an error code of the REST API with its details. */
  z.object({
    kind: z.literal("refused"),
    code: z.enum(["validation_failed", "conflict", "not_found"]),
    message: z.string(),
    fields: z.record(z.string(), z.string()).optional(),
    field: z.string().optional(),
  }),
  /** A store is away: try again. */
  z.object({ kind: z.literal("unavailable") }),
]);
export type ConversionCommandReply = z.infer<typeof ConversionCommandReply>;
