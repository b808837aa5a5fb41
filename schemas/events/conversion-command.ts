import { z } from "zod";

/**
 * Request from the api to the conversion processors: `POST /conversions` and both PATCHes. The processors judge them like all other
 * conversions; the api has checked their schema and the role.
 */
const actor = {
  workspaceId: z.int(),
  /** 0 for a person. */
  keyId: z.int(),
  personId: z.int().optional(),
  nowMs: z.int(),
};

export const ConversionCommand = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("create"),
    ...actor,
    offerId: z.int(),
    affiliateId: z.int().nullable(),
    clickId: z.string().nullable(),
    eventCode: z.string(),
    /** Money as decimal text with at most four places; null if the terms of the offer decide. */
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
    /** Set for `PATCH /conversions/{id}`, which refuses a duplicate. A bulk change skips duplicates. */
    bulk: z.boolean(),
    /** Null keeps it. */
    status: z.enum(["approved", "pending", "rejected"]).nullable(),
    reason: z.string(),
    notes: z.string().nullable(),
    /** Decimal text in the conversion's currency. An amount that is given is final (N130). */
    amounts: z
      .object({ sale_amount: z.string(), payout: z.string(), revenue: z.string() })
      .partial()
      .optional(),
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
  /** An error code of the REST API with its details. */
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
