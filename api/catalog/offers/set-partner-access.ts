import { z } from "zod";
import { REPLY_MAX } from "../../../schemas/catalog/access-reply.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { longText, oneOf, text } from "../../fields/body-fields.ts";
import { pathCode, reference } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { getOfferOfPath } from "./get-offer.ts";
import { ACCESS_STATUSES, ShownPartnerAccess } from "./offer-fields.ts";
import { type AccessRow, queueAccessEvent } from "./queue-access-event.ts";

const Body = z.strictObject({
  status: oneOf(...ACCESS_STATUSES),
  note: longText().optional(),
  reply: text(REPLY_MAX).optional(),
});

export const setPartnerAccess: Operation = operation({
  name: "setPartnerAccess",
  method: "PUT",
  path: "/offers/{id}/affiliates/{affiliate}",
  tag: "Offers",
  summary: "Set a partner's access to an offer",
  description:
    "Approves, rejects or resets it. The partner reads `reply` with its request, and never `note`.",
  // Managers of partners decide too, although they may not change the offer itself.
  access: { ...adminWrite("offers.write"), orPermission: "affiliates.write" },
  input: {
    path: z.object({
      id: reference,
      affiliate: pathCode.meta({ description: "Code of the affiliate" }),
    }),
    body: Body,
  },
  output: z.object({ data: ShownPartnerAccess }),
  status: 200,
  findResource: async (context, path) => {
    const offer = await getOfferOfPath(context, path);
    const affiliateId = await findAffiliateId(context.db, context.workspace.id, path.affiliate);
    if (affiliateId === undefined) throw notFound("affiliate");
    return { offer, affiliateId };
  },
  run: async (context, { body, resource: { offer, affiliateId } }) => {
    const { principal, db } = context;
    const { status, note = "", reply = "" } = body;
    const wanted = { offerId: offer.id, affiliateId, status, note, reply };
    const access = await inTransaction(db, async (tx) => {
      const before = await lockAccess(tx, wanted);
      const after = await setAccess(tx, wanted);
      if (before?.status !== after.status || before.note !== after.note)
        await queueAccessEvent(tx, context, { offer, access: after });
      return after;
    });
    return { body: { data: showTo(principal.role, "partner_access", access) } };
  },
});

/** The partner is identified by its code only (T23). */
async function findAffiliateId(
  db: Queryable,
  workspaceId: number,
  code: string,
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: "find-affiliate-id-by-code",
    text: "select id from affiliate where workspace_id = $1 and lower(code) = lower($2)",
    values: [workspaceId, code],
  });
  return rows[0]?.id;
}

type Access = {
  readonly offerId: number;
  readonly affiliateId: number;
  readonly status: string;
  readonly note: string;
  readonly reply?: string;
};

/** Serialises writers of an offer's access records until the end of their transactions. */
export async function lockForAccess(tx: Queryable, offerId: number): Promise<void> {
  await tx.query({
    name: "lock-offer-access",
    text: "select o.id from offer o where o.id = $1 for no key update",
    values: [offerId],
  });
}

/** The record before the change; undefined for a partner that has not asked yet. */
async function lockAccess(
  tx: Queryable,
  { offerId, affiliateId }: Access,
): Promise<{ status: string; note: string } | undefined> {
  await lockForAccess(tx, offerId);
  const { rows } = await tx.query<{ status: string; note: string }>({
    name: "find-offer-access",
    text: "select status, note from offer_access where offer_id = $1 and affiliate_id = $2 and is_asked",
    values: [offerId, affiliateId],
  });
  return rows[0];
}

/** Replaces status, note and reply. A first record counts as requested now; a pending one has no decision time (G50). */
export async function setAccess(db: Queryable, access: Access): Promise<AccessRow> {
  const { rows } = await db.query<AccessRow>({
    name: "set-offer-access",
    text: `with set_access as (
             insert into offer_access (offer_id, affiliate_id, status, note, reply, requested_at, decided_at)
             values ($1, $2, $3, $4, $5, now(), case when $3 = 'pending' then null else now() end)
             on conflict (offer_id, affiliate_id) do update
             set status = excluded.status, note = excluded.note, reply = excluded.reply, decided_at = excluded.decided_at,
               requested_at = coalesce(offer_access.requested_at, excluded.requested_at)
             returning affiliate_id, status, note, requested_at, decided_at)
           select a.affiliate_id, f.code as affiliate_code, f.name as affiliate_name, a.status, a.note, a.requested_at,
             a.decided_at
           from set_access a join affiliate f on f.id = a.affiliate_id`,
    values: [access.offerId, access.affiliateId, access.status, access.note, access.reply ?? ""],
  });
  const row = rows[0];
  if (row === undefined) throw new Error("the upsert returned no row");
  return row;
}
