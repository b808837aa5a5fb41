import type { Queryable } from "../../../schemas/postgres/connect.ts";

/**
 * Whether `/c/<offer_code>-<affiliate_code>` leads to another pair of the workspace. Links are split at their last hyphen first (T24), so a
 * partner code with a hyphen may be cut in two.
 */
export async function isKeyAmbiguous(
  db: Queryable,
  workspaceId: number,
  { offerCode, affiliateCode }: { readonly offerCode: string; readonly affiliateCode: string },
): Promise<boolean> {
  const parts = affiliateCode.split("-");
  if (parts.length === 1) return false;
  const others = parts.slice(1).map((_part, index) => ({
    offer: `${offerCode}-${parts.slice(0, index + 1).join("-")}`,
    affiliate: parts.slice(index + 1).join("-"),
  }));
  const { rows } = await db.query<{ found: boolean }>({
    name: "is-key-ambiguous",
    text: `select exists (
             select from unnest($2::text[], $3::text[]) as pair (offer, affiliate)
             join offer o on o.workspace_id = $1 and lower(o.code) = lower(pair.offer) and o.deleted_at is null
             join affiliate f on f.workspace_id = $1 and lower(f.code) = lower(pair.affiliate)) as found`,
    values: [
      workspaceId,
      others.map(({ offer }) => offer),
      others.map(({ affiliate }) => affiliate),
    ],
  });
  return rows[0]?.found === true;
}
