import type { Queryable } from "../../schemas/postgres/connect.ts";
import { likePattern, type Reference } from "../rest/codes.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";

export type AffiliateRow = {
  id: number;
  code: string;
  name: string;
  status: string;
  company: string;
  contact_name: string;
  email: string;
  phone: string;
  website: string;
  messenger: string;
  traffic_sources: string;
  notes: string;
  country: string;
  tier: string;
  manager_id: number | null;
  payment_method: string;
  payment_details: Record<string, string>;
  payment_terms: string;
  min_payout: string;
  currency: string;
  tags: string[];
  approved_at: string | null;
  created_at: string;
  updated_at: string;
};

export type AffiliateFilters = {
  readonly status: string | undefined;
  readonly managerId: number | undefined;
  readonly tag: string | undefined;
  readonly ids: readonly number[] | undefined;
  readonly q: string | undefined;
};

const COLUMNS = `id, code, name, status, company, contact_name, email, phone, website, messenger, traffic_sources, notes,
  country, tier, manager_id, payment_method, payment_details, payment_terms, min_payout, currency, tags, approved_at,
  created_at, updated_at`;

export async function listAffiliates(
  db: Queryable,
  workspaceId: number,
  filters: AffiliateFilters,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<AffiliateRow[]> {
  const { rows } = await db.query<AffiliateRow>({
    ...keptPlan("list-affiliates", filters),
    text: `select ${COLUMNS} from affiliate
           where workspace_id = $1 and (created_at, id) < ($2::timestamptz, $3::integer)
             and ($4::text is null or status = $4) and ($5::integer is null or manager_id = $5)
             and ($6::text is null or $6 = any(tags)) and ($7::integer[] is null or id = any($7))
             and ($8::text is null or name ilike $8 or company ilike $8 or email ilike $8 or lower(code) = lower($9::text))
           order by created_at desc, id desc limit $10`,
    values: [
      workspaceId,
      page.after?.at ?? "infinity",
      page.after?.id ?? 0,
      filters.status,
      filters.managerId,
      filters.tag,
      filters.ids,
      filters.q === undefined ? null : likePattern(filters.q),
      filters.q,
      page.rowsMax,
    ],
  });
  return rows;
}

/** By id, else by code (G25). */
export async function findAffiliate(
  db: Queryable,
  workspaceId: number,
  reference: Reference,
): Promise<AffiliateRow | undefined> {
  const { rows } = await db.query<AffiliateRow>({
    name: "find-affiliate",
    text: `select ${COLUMNS} from affiliate where workspace_id = $1 and (id = $2 or lower(code) = lower($3))
           order by id = $2 desc limit 1`,
    values: [workspaceId, reference.id, reference.code],
  });
  return rows[0];
}

export async function lockAffiliate(db: Queryable, id: number): Promise<AffiliateRow | undefined> {
  const { rows } = await db.query<AffiliateRow>({
    name: "lock-affiliate",
    text: `select ${COLUMNS} from affiliate where id = $1 for update`,
    values: [id],
  });
  return rows[0];
}

/** What a write sets, in the order of {@link WRITTEN}; `approved_at` is set by the status (T39). */
export type AffiliateValues = Omit<
  AffiliateRow,
  "id" | "approved_at" | "created_at" | "updated_at"
>;

const WRITTEN = `code, name, status, company, contact_name, email, phone, website, messenger, traffic_sources, notes, country,
  tier, manager_id, payment_method, payment_details, payment_terms, min_payout, currency, tags`;

/** @throws a unique violation of `affiliate_code`. */
export async function insertAffiliate(
  db: Queryable,
  workspaceId: number,
  values: AffiliateValues,
): Promise<AffiliateRow> {
  const { rows } = await db.query<AffiliateRow>({
    name: "insert-affiliate",
    text: `insert into affiliate (workspace_id, ${WRITTEN}, approved_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
             case when $4 = 'active' then now() end)
           returning ${COLUMNS}`,
    values: [workspaceId, ...writtenValues(values)],
  });
  return only(rows);
}

/** @throws a unique violation of `affiliate_code`. */
export async function updateAffiliate(
  db: Queryable,
  id: number,
  values: AffiliateValues,
): Promise<AffiliateRow> {
  const { rows } = await db.query<AffiliateRow>({
    name: "update-affiliate",
    text: `update affiliate set (${WRITTEN}) = row ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
             $18, $19, $20, $21), updated_at = clock_timestamp(),
             approved_at = coalesce(approved_at, case when $4 = 'active' then clock_timestamp() end)
           where id = $1
           returning ${COLUMNS}`,
    values: [id, ...writtenValues(values)],
  });
  return only(rows);
}

function writtenValues(values: AffiliateValues): unknown[] {
  return [
    values.code,
    values.name,
    values.status,
    values.company,
    values.contact_name,
    values.email,
    values.phone,
    values.website,
    values.messenger,
    values.traffic_sources,
    values.notes,
    values.country,
    values.tier,
    values.manager_id,
    values.payment_method,
    JSON.stringify(values.payment_details),
    values.payment_terms,
    values.min_payout,
    values.currency,
    values.tags,
  ];
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("a write of one row answers that row");
  return row;
}
