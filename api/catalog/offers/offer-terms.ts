import { createHash } from "node:crypto";
import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { conflict } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { getOfferOfPath, OfferPath } from "./get-offer.ts";
import { lockForAccess } from "./set-partner-access.ts";

export const SHA256 = /^[0-9a-f]{64}$/;
export const TERMS_HASH_EXAMPLE =
  "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";

type Acceptance = {
  readonly offerId: number;
  readonly affiliateId: number | undefined;
  readonly hash: string;
};

type TermsRow = {
  readonly offer_id: number;
  readonly terms: string | null;
  readonly accepted_at: string | null;
};

const ShownTerms = shownSchema("offer_terms", {
  offer_id: z.int(),
  terms: z.string().nullable(),
  hash: z
    .string()
    .regex(SHA256)
    .meta({ examples: [TERMS_HASH_EXAMPLE] })
    .nullable(),
  accepted: z.boolean(),
  accepted_at: shownTime.nullable(),
}).meta({ id: "OfferTerms" });

export const getOfferTerms: Operation = operation({
  name: "getOfferTerms",
  method: "GET",
  path: "/offers/{id}/terms",
  tag: "Offers",
  summary: "Get the terms of an offer",
  description: "The text, and whether the partner has accepted it.",
  access: { roles: ["admin", "analyst", "partner"], permission: "offers.read", isWrite: false },
  input: { path: OfferPath },
  output: z.object({ data: ShownTerms }),
  status: 200,
  findResource: getOfferOfPath,
  run: async (context, { resource: { id } }) =>
    answer(context, await readTerms(context.db, context, id)),
});

export const acceptOfferTerms: Operation = operation({
  name: "acceptOfferTerms",
  method: "POST",
  path: "/offers/{id}/accept-terms",
  tag: "Offers",
  summary: "Accept the terms of an offer",
  description:
    "Clicks of the partner to an offer with terms go to the fallback until the partner has accepted them. `hash` is the hash of the " +
    "terms that the partner has read; if the terms have changed since, they are not accepted. Accepting twice changes nothing.",
  access: { roles: ["partner"], permission: "offers.read", isWrite: true },
  input: {
    path: OfferPath,
    body: z.strictObject({
      hash: z
        .string("expected text")
        .regex(SHA256, "expected the hash of the terms, 64 hexadecimal digits")
        .meta({ examples: [TERMS_HASH_EXAMPLE] }),
    }),
  },
  output: z.object({ data: ShownTerms }),
  status: 200,
  failures: ["conflict"],
  findResource: getOfferOfPath,
  run: async (context, { body: { hash }, resource: { id } }) => {
    const row = await inTransaction(context.db, async (tx) => {
      await lockForAccess(tx, id);
      const affiliateId = context.principal.affiliate?.id;
      await acceptTerms(tx, { offerId: id, affiliateId, hash, field: "hash" });
      return await readTerms(tx, context, id);
    });
    return answer(context, row);
  },
});

/**
 * Accepts the terms of an offer for a partner. The caller must have locked the offer.
 * @throws {ApiError} `conflict` on `field` if the offer has other terms or none.
 */
export async function acceptTerms(
  tx: Queryable,
  { field, ...acceptance }: Acceptance & { readonly field: string },
): Promise<void> {
  const { rows } = await tx.query<{ terms: string | null }>({
    name: "read-terms-to-accept",
    text: "select o.terms from offer o where o.id = $1",
    values: [acceptance.offerId],
  });
  const terms = rows[0]?.terms ?? null;
  if (terms === null) throw conflict(field, "the offer has no terms");
  if (hashOf(terms) !== acceptance.hash)
    throw conflict(field, "the terms have changed: read them again before you accept them");
  await saveAcceptance(tx, acceptance);
}

/** Makes every partner accept the new terms of an offer. The caller must have locked the offer. */
export async function resetAcceptances(tx: Queryable, offerId: number): Promise<void> {
  await tx.query({
    name: "reset-offer-acceptances",
    text: `update offer_access set terms_accepted_at = null
           where offer_id = $1 and terms_accepted_at is not null`,
    values: [offerId],
  });
}

async function readTerms(
  db: Queryable,
  { principal }: OperationContext,
  offerId: number,
): Promise<TermsRow> {
  const { rows } = await db.query<TermsRow>({
    name: "read-offer-terms",
    text: `select o.id as offer_id, o.terms, ac.terms_accepted_at as accepted_at
           from offer o left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = $2
           where o.id = $1`,
    values: [offerId, principal.affiliate?.id],
  });
  const row = rows[0];
  if (row === undefined) throw new Error("the offer found before is gone");
  return row;
}

/** Only the first acceptance counts. A partner without an access record gets one that is not a request for access. */
async function saveAcceptance(tx: Queryable, acceptance: Acceptance): Promise<void> {
  await tx.query({
    name: "accept-offer-terms",
    text: `insert into offer_access (offer_id, affiliate_id, status, terms_accepted_at, accepted_terms_sha256)
           values ($1, $2, 'pending', now(), $3)
           on conflict (offer_id, affiliate_id) do update
           set terms_accepted_at = excluded.terms_accepted_at, accepted_terms_sha256 = excluded.accepted_terms_sha256
           where offer_access.terms_accepted_at is null`,
    values: [acceptance.offerId, acceptance.affiliateId, acceptance.hash],
  });
}

function answer({ principal }: OperationContext, { terms, ...row }: TermsRow) {
  const hash = terms === null ? null : hashOf(terms);
  const shown = { ...row, terms, hash, accepted: row.accepted_at !== null };
  return { body: { data: showTo(principal.role, "offer_terms", shown) } };
}

function hashOf(terms: string): string {
  return createHash("sha256").update(terms, "utf8").digest("hex");
}
