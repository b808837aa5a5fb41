import { randomBytes } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { likePattern } from "../rest/codes.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";

export type AdvertiserRow = {
  id: number;
  name: string;
  status: string;
  company: string;
  contact_name: string;
  email: string;
  phone: string;
  website: string;
  country: string;
  notes: string;
  currency: string;
  account_manager_id: number | null;
  billing_terms: string;
  tags: string[];
  postback_token: string;
  created_at: string;
  updated_at: string;
};

export type AdvertiserFilters = {
  readonly status: string | undefined;
  readonly q: string | undefined;
  readonly ids: readonly number[] | undefined;
};

const TOKEN_BYTES = 16;

const COLUMNS = `id, name, status, company, contact_name, email, phone, website, country, notes, currency, account_manager_id,
  billing_terms, tags, postback_token, created_at, updated_at`;

/** A server-to-server token (G62): 32 hex digits. */
export function mintPostbackToken(): string {
  return randomBytes(TOKEN_BYTES).toString("hex");
}

export async function listAdvertisers(
  db: Queryable,
  workspaceId: number,
  filters: AdvertiserFilters,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<AdvertiserRow[]> {
  const { rows } = await db.query<AdvertiserRow>({
    ...keptPlan("list-advertisers", filters),
    text: `select ${COLUMNS} from advertiser
           where workspace_id = $1 and (created_at, id) < ($2::timestamptz, $3::integer)
             and ($4::text is null or status = $4) and ($5::integer[] is null or id = any($5))
             and ($6::text is null or name ilike $6 or company ilike $6 or email ilike $6)
           order by created_at desc, id desc limit $7`,
    values: [
      workspaceId,
      page.after?.at ?? "infinity",
      page.after?.id ?? 0,
      filters.status,
      filters.ids,
      filters.q === undefined ? null : likePattern(filters.q),
      page.rowsMax,
    ],
  });
  return rows;
}

export async function findAdvertiser(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<AdvertiserRow | undefined> {
  const { rows } = await db.query<AdvertiserRow>({
    name: "find-advertiser",
    text: `select ${COLUMNS} from advertiser where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}

export async function lockAdvertiser(
  db: Queryable,
  id: number,
): Promise<AdvertiserRow | undefined> {
  const { rows } = await db.query<AdvertiserRow>({
    name: "lock-advertiser",
    text: `select ${COLUMNS} from advertiser where id = $1 for update`,
    values: [id],
  });
  return rows[0];
}

/** What a write sets, in the order of {@link WRITTEN}. */
export type AdvertiserValues = Omit<
  AdvertiserRow,
  "id" | "postback_token" | "created_at" | "updated_at"
>;

const WRITTEN = `name, status, company, contact_name, email, phone, website, country, notes, currency, account_manager_id,
  billing_terms, tags`;

export async function insertAdvertiser(
  db: Queryable,
  workspaceId: number,
  values: AdvertiserValues,
): Promise<AdvertiserRow> {
  const { rows } = await db.query<AdvertiserRow>({
    name: "insert-advertiser",
    text: `insert into advertiser (workspace_id, ${WRITTEN}, postback_token)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
           returning ${COLUMNS}`,
    values: [workspaceId, ...writtenValues(values), mintPostbackToken()],
  });
  return only(rows);
}

export async function updateAdvertiser(
  db: Queryable,
  id: number,
  values: AdvertiserValues,
): Promise<AdvertiserRow> {
  const { rows } = await db.query<AdvertiserRow>({
    name: "update-advertiser",
    text: `update advertiser set (${WRITTEN}) = row ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14),
             updated_at = clock_timestamp()
           where id = $1
           returning ${COLUMNS}`,
    values: [id, ...writtenValues(values)],
  });
  return only(rows);
}

/** Undefined when the advertiser is gone. */
export async function rotatePostbackToken(
  db: Queryable,
  id: number,
): Promise<AdvertiserRow | undefined> {
  const { rows } = await db.query<AdvertiserRow>({
    name: "rotate-advertiser-token",
    text: `update advertiser set postback_token = $2, updated_at = clock_timestamp() where id = $1
           returning ${COLUMNS}`,
    values: [id, mintPostbackToken()],
  });
  return rows[0];
}

function writtenValues(values: AdvertiserValues): unknown[] {
  return [
    values.name,
    values.status,
    values.company,
    values.contact_name,
    values.email,
    values.phone,
    values.website,
    values.country,
    values.notes,
    values.currency,
    values.account_manager_id,
    values.billing_terms,
    values.tags,
  ];
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("a write of one row answers that row");
  return row;
}
