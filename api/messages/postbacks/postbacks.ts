import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { findOffer } from "../../catalog/offers/offers.ts";
import { calledUrl, longText, oneOf, recordId, shownTime } from "../../fields/body-fields.ts";
import { eventCode } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { macroFaults, postbackMacros } from "../../http/macro-faults.ts";
import { idParam, wordParam } from "../../http/query-fields.ts";
import { ApiError, conflict, invalidParameter } from "../../operation/errors.ts";
import type { FieldFaults, OperationAccess, OperationContext } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { manage } from "../../records/manage.ts";
import { withoutStatusText } from "./delivery-for-partner.ts";

/** Kinds of postbacks (G123). Destinations of ad platforms are not managed here (PBO-031). */
const KINDS = ["s2s", "html"] as const;
const METHODS = ["GET", "POST"] as const;
const FIRE_ON = ["approved", "any", "reversal"] as const;
/** Each postback is queued in the transaction that records a conversion, beside others' conversions. */
const OF_OFFER_AND_PARTNER_MAX = 100;
const WRITTEN_STATUSES = ["active", "paused"] as const;
/** The service disables a postback that has failed for a long time (G126). */
const STATUSES = [...WRITTEN_STATUSES, "disabled"] as const;

type Body = Readonly<Record<string, unknown>>;
/** The fields of a write, and what is stored or the defaults. */
type Sent = { readonly body: Body; readonly before: Body };

const postbackRead: OperationAccess = {
  roles: ["admin", "analyst", "partner"],
  permission: "postbacks.read",
  isWrite: false,
};
export const postbackWrite: OperationAccess = {
  roles: ["admin", "partner"],
  permission: "postbacks.write",
  isWrite: true,
};

/** Partners do not see private events (G124, T12), although staff may have set up a postback for one. */
const EVENT_IS_PUBLIC = `not exists (select from offer_event e
  where e.offer_id = postback.offer_id and e.code = postback.event_code and e.is_private)`;

/** Partner postbacks. Partners manage their own. */
export const postbacks = manage({
  resource: "postback",
  refusals: ["not_approved", "conflict"],
  names: { one: "Postback", many: "Postbacks" },
  path: "/postbacks",
  tag: "Postbacks",
  descriptions: {
    list: "Messages to partners about their conversions. Newest first. With `offer_id`, the postbacks of this offer alone.",
  },
  table: "postback",
  fields: {
    affiliate_id: field(recordId.nullable(), {
      shown: z.int().nullable().meta({ description: "null: for every partner" }),
    }),
    offer_id: field(recordId.nullable(), {
      shown: z.int().nullable().meta({
        description: "null: for every offer, beside the postbacks of the offer itself",
      }),
      required: true,
    }),
    event_code: field(eventCode.nullable(), {
      shown: z.string().nullable().meta({ description: "null: every event that is not private" }),
      unset: null,
    }),
    kind: field(oneOf(...KINDS), { shown: z.enum([...KINDS, "capi"]), unset: "s2s" }),
    method: field(oneOf(...METHODS), { shown: z.enum(METHODS), unset: "GET" }),
    url: field(calledUrl, { shown: z.string(), required: true }),
    body: field(longText(), {
      shown: z.string().meta({
        description:
          "For a POST: its body. For kind html: what an iframe pixel (/px.html, or /px.js with html=1) carries; an image of url when empty",
      }),
      unset: "",
    }),
    fire_on: field(oneOf(...FIRE_ON), { shown: z.enum(FIRE_ON), unset: "approved" }),
    status: field(oneOf(...WRITTEN_STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
  },
  generated: ({ principal: { role, affiliate } }) => ({
    affiliate_id: affiliate?.id ?? null,
    created_by_affiliate: role === "partner",
  }),
  readOnly: {
    id: z.int(),
    created_by_affiliate: z.boolean(),
    disabled_reason: z
      .string()
      .optional()
      .meta({ description: "Only for a postback that the service has disabled" }),
    created_at: shownTime,
    updated_at: shownTime,
  },
  setOnCreate: ["created_by_affiliate"],
  // Only a disabled postback has the field `disabled_reason`.
  present: ({ principal }, { disabled_reason: reason, ...fields }) =>
    fields["status"] === "disabled"
      ? { ...fields, disabled_reason: shownReason(principal, fields, String(reason)) }
      : fields,
  filters: {
    offer_id: idParam,
    affiliate_id: idParam.meta({ description: "Partner keys: only their own id" }),
    status: wordParam(...STATUSES),
  },
  conditions: { event_is_public: () => ({ text: () => EVENT_IS_PUBLIC, values: [] }) },
  narrow: ({ affiliate }, filters) => {
    if (affiliate === null) return filters;
    if ((filters["affiliate_id"] ?? affiliate.id) !== affiliate.id)
      throw invalidParameter("affiliate_id", "not your own account");
    return { ...filters, affiliate_id: affiliate.id, event_is_public: true };
  },
  read: postbackRead,
  write: postbackWrite,
  references: { offer_id: "offer", affiliate_id: "affiliate" },
  isVisible: async (db, { affiliate }, { id }) =>
    affiliate === null || (await isPostbackOfPartner(db, affiliate.id, id)),
  refuseWrite: refuseForeignMacros,
  findFaults: async (context, values, sent) => {
    refuseForeignAccount(context.principal, sent.body["affiliate_id"]);
    return {
      ...macroFaults(postbackMacros(values["created_by_affiliate"] === true), sent),
      ...(await offerFaults(context, values, sent)),
    };
  },
  beforeWrite: assertRoom,
});

/**
 * A postback of the staff may use macros that partners may not. A partner could point it to an address of its own and so read their values.
 * @throws {ApiError} `forbidden`
 */
export function refuseForeignMacros({ role }: Principal, { created_by_affiliate }: Body): void {
  if (role === "partner" && created_by_affiliate !== true)
    throw new ApiError("forbidden", "your team created this postback, so only they can change it");
}

/** A postback of the staff may have sent values that the partner does not see, and the receiver may have echoed them (#15, G125). */
function shownReason({ affiliate }: Principal, postback: Body, reason: string): string {
  return affiliate === null || postback["created_by_affiliate"] === true
    ? reason
    : withoutStatusText(reason);
}

/**
 * Writes of postbacks of one offer wait for each other here, and so do writes of postbacks of all offers of a workspace.
 * @throws {ApiError} `conflict`
 */
async function assertRoom(tx: Queryable, workspaceId: number, postback: Body): Promise<void> {
  const { offer_id: offerId, affiliate_id: affiliateId, id } = postback;
  await tx.query({
    name: "lock-postbacks-of-offer",
    text: `select pg_advisory_xact_lock(
             hashtext(case when $1::integer is null then 'postbacks of all offers' else 'postbacks of an offer' end), coalesce($1, $2::integer))`,
    values: [offerId, workspaceId],
  });
  // A postback that is already there does not add to them.
  const { rows } = await tx.query<{ is_full: boolean }>({
    name: "are-postbacks-of-offer-full",
    text: `select count(*) >= $4 and bool_or(id = $3) is not true as is_full from postback
           where offer_id is not distinct from $1 and affiliate_id is not distinct from $2 and workspace_id = $5`,
    values: [offerId, affiliateId, id, OF_OFFER_AND_PARTNER_MAX, workspaceId],
  });
  if (rows[0]?.is_full === true)
    throw conflict(
      "offer_id",
      `there are ${OF_OFFER_AND_PARTNER_MAX} postbacks of this ${offerId === null ? "partner for all offers" : "offer and partner"} already: delete one`,
    );
}

/** Whether a postback is the partner's own and not for an event that the partner does not see. */
export async function isPostbackOfPartner(
  db: Queryable,
  affiliateId: number,
  postbackId: number,
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: "is-postback-of-partner",
    text: `select exists (select from postback
             where id = $1 and affiliate_id = $2 and ${EVENT_IS_PUBLIC}) as found`,
    values: [postbackId, affiliateId],
  });
  return rows[0]?.found === true;
}

/** @throws {ApiError} `forbidden` when a partner names all accounts or any but its own (G124). */
function refuseForeignAccount({ affiliate }: Principal, given: unknown): void {
  if (affiliate === null || given === affiliate.id) return;
  if (given === null || typeof given === "number")
    throw new ApiError("forbidden", "a partner key manages the postbacks of its own account");
}

/**
 * Checks that the offer and the event of a write exist and are visible to the key. Stored values are not checked again. A postback of all
 * offers may name any event: each offer has its own.
 * @throws {ApiError} `not_approved` for an offer that the partner sees but cannot run (G124).
 */
async function offerFaults(
  { db, principal }: OperationContext,
  values: Body,
  sent: Sent,
): Promise<FieldFaults> {
  const isNewOffer = changes(sent, "offer_id");
  const id = recordId.safeParse(values["offer_id"]);
  if (!id.success || !(isNewOffer || changes(sent, "event_code"))) return {};
  const offer = await findOffer(db, principal, { id: id.data, code: "" });
  if (isNewOffer) {
    if (offer === undefined) return { offer_id: "no such offer" };
    if ("can_run" in offer && !offer.can_run)
      throw new ApiError("not_approved", "you may not run this offer yet");
  }
  const code = values["event_code"];
  const seen = offer?.events.filter(
    ({ is_private }) => principal.role !== "partner" || !is_private,
  );
  return typeof code !== "string" || seen?.some((event) => event.code === code) === true
    ? {}
    : { event_code: "the offer has no event with this code" };
}

function changes({ body, before }: Sent, name: string): boolean {
  return body[name] !== undefined && body[name] !== before[name];
}
