import type { Queryable } from "../../schemas/postgres/connect.ts";
import { invalidParameter } from "../errors.ts";
import type { ReportFilter } from "./report-filters.ts";
import type { ReportScope } from "./report-scope.ts";

/** Private offers are for approved partners only (G49). A code goes before an alias (N112). */
const OFFERS = `with named as (
    select id as offer_id, lower(code) as code, true as is_own from offer where workspace_id = $1 and lower(code) = any($2::text[])
    union all
    select target_id, lower(alias), false from code_alias
    where workspace_id = $1 and kind = 'offer' and lower(alias) = any($2::text[])
  )
  select o.id, n.code from named n join offer o on o.id = n.offer_id
  left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = $3
  where ($3::integer is null or o.visibility <> 'private' or ac.status = 'approved')
    and ($4::integer is null or o.advertiser_id = $4)
  order by n.is_own, o.deleted_at is null, o.id`;
const AFFILIATES = `with named as (
    select id, lower(code) as code, true as is_own from affiliate where workspace_id = $1 and lower(code) = any($2::text[])
    union all
    select target_id, lower(alias), false from code_alias
    where workspace_id = $1 and kind = 'affiliate' and lower(alias) = any($2::text[])
  )
  select id, code from named where ($3::integer is null or id = $3) and $4::integer is null
  order by is_own, id`;

/**
 * Filters with ids in place of the codes of offers and partners. A code that the key may not see is an unknown one, otherwise a partner could
 * find out which codes exist (P30). @throws {ApiError} `invalid_parameter` for an unknown code.
 */
export async function withIds(
  db: Queryable,
  filters: readonly ReportFilter[],
  scope: ReportScope,
): Promise<readonly ReportFilter[]> {
  const found: ReportFilter[] = [];
  for (const filter of filters) {
    const codes = filter.dimension.kind === "id" ? filter.values.filter(isText) : [];
    found.push(codes.length === 0 ? filter : await replaced(db, filter, { codes, scope }));
  }
  return found;
}

async function replaced(
  db: Queryable,
  filter: ReportFilter,
  { codes, scope }: { readonly codes: readonly string[]; readonly scope: ReportScope },
): Promise<ReportFilter> {
  const isOffer = filter.dimension.entity === "offer";
  const { rows } = await db.query<{ id: number; code: string }>({
    name: isOffer ? "read-report-offer-codes" : "read-report-affiliate-codes",
    text: isOffer ? OFFERS : AFFILIATES,
    values: [
      scope.workspaceId,
      codes.map((code) => code.toLowerCase()),
      scope.role === "partner" ? scope.ownerId : null,
      scope.role === "advertiser" ? scope.ownerId : null,
    ],
  });
  // A code that was given again belongs to the record that is there now, which comes last. Aliases come first, so a code replaces them.
  const ids = new Map(rows.map(({ id, code }) => [code, id]));
  const values = filter.values.map((value) => {
    if (!isText(value)) return value;
    const id = ids.get(value.toLowerCase());
    if (id === undefined) {
      throw invalidParameter(
        "filters",
        `there is no ${filter.dimension.name} with the code "${value}"`,
      );
    }
    return id;
  });
  return { ...filter, values };
}

function isText(value: string | number): value is string {
  return typeof value === "string";
}
