import { isStorable } from "../../../fields/body-fields.ts";
import type { OperationContext } from "../../../operation/operation.ts";

type Found = { readonly id: number; readonly key: string };

/**
 * The texts in the lower case of Postgres, with which keys are compared. JavaScript lower-cases some names differently: "ΟΔΟΣ", "İpek". Texts that
 * Postgres cannot store are left out: no record has them.
 */
export async function foldTexts(
  { db }: OperationContext,
  texts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = texts.filter(isStorable);
  const { rows } = await db.query<{ folded: string }>({
    name: "fold-texts",
    text: `select lower(one) as folded from unnest($1::text[]) with ordinality as given (one, place) order by place`,
    values: [asked],
  });
  return new Map(asked.map((text, index) => [text, rows[index]?.folded ?? text]));
}

/** Offers of the workspace by codes in lower case. */
export async function findOffersByCodes(
  { db, workspace }: OperationContext,
  codes: readonly string[],
): Promise<Found[]> {
  const { rows } = await db.query<Found>({
    name: "find-offers-by-codes",
    text: `select id, lower(code) as key from offer
           where workspace_id = $1 and deleted_at is null and lower(code) = any($2::text[])`,
    values: [workspace.id, codes],
  });
  return rows;
}

/** Partners of the workspace by codes in lower case. */
export async function findAffiliatesByCodes(
  { db, workspace }: OperationContext,
  codes: readonly string[],
): Promise<Found[]> {
  const { rows } = await db.query<Found>({
    name: "find-affiliates-by-codes",
    text: `select id, lower(code) as key from affiliate where workspace_id = $1 and lower(code) = any($2::text[])`,
    values: [workspace.id, codes.filter(isStorable)],
  });
  return rows;
}

/** Advertisers of the workspace by names in lower case. Several may share a name. */
export async function findAdvertisersByNames(
  { db, workspace }: OperationContext,
  names: readonly string[],
): Promise<Found[]> {
  const { rows } = await db.query<Found>({
    name: "find-advertisers-by-names",
    text: `select id, lower(name) as key from advertiser where workspace_id = $1 and lower(name) = any($2::text[])`,
    values: [workspace.id, names],
  });
  return rows;
}

/** Which of the codes, in lower case, a record of this kind already has in another workspace that shares a host (G200). */
export async function findCodesOnSharedHosts(
  { db, workspace }: OperationContext,
  kind: string,
  codes: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ code: string }>({
    name: "find-codes-beside",
    text: `select code from link_code
           where kind = $2 and code = any($3::text[]) and workspace_id <> $1 and share_a_host($1, workspace_id)`,
    values: [workspace.id, kind, codes],
  });
  return new Set(rows.map(({ code }) => code));
}

/** Which of the partner codes, in lower case, are approved for the offer. */
export async function findApprovedPartners(
  { db }: OperationContext,
  offerId: number,
  codes: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ code: string }>({
    name: "find-approved-partners",
    text: `select lower(f.code) as code from offer_access a join affiliate f on f.id = a.affiliate_id
           where a.offer_id = $1 and a.status = 'approved' and lower(f.code) = any($2::text[])`,
    values: [offerId, codes],
  });
  return new Set(rows.map(({ code }) => code));
}
