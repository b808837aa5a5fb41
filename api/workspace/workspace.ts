import type { Queryable } from "../../schemas/postgres/connect.ts";

export type WorkspaceRow = {
  id: number;
  slug: string;
  name: string;
  brand_name: string;
  timezone: string;
  currency: string;
  status: string;
  default_fallback_url: string;
  allowed_destinations: string[];
  attribution_model: string;
  advertiser_updates: boolean;
  organic_affiliate_id: number | null;
  email_attribution: boolean;
  ip_storage: string;
  fraud_checks: Record<string, unknown>;
  forward_unknown_url: string;
  postback_token: string;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, slug, name, brand_name, timezone, currency, status, default_fallback_url, allowed_destinations,
  attribution_model, advertiser_updates, organic_affiliate_id, email_attribution, ip_storage, fraud_checks,
  forward_unknown_url, postback_token, created_at, updated_at`;

const WRITTEN = `slug, name, brand_name, timezone, currency, status, default_fallback_url, allowed_destinations,
  attribution_model, advertiser_updates, organic_affiliate_id, email_attribution, ip_storage, fraud_checks,
  forward_unknown_url, postback_token`;

export async function findWorkspace(db: Queryable, id: number): Promise<WorkspaceRow> {
  const { rows } = await db.query<WorkspaceRow>({
    name: "find-workspace",
    text: `select ${COLUMNS} from workspace where id = $1`,
    values: [id],
  });
  return only(rows);
}

/** Nobody else changes the row until the end of the transaction. */
export async function lockWorkspace(tx: Queryable, id: number): Promise<WorkspaceRow> {
  const { rows } = await tx.query<WorkspaceRow>({
    name: "lock-workspace",
    text: `select ${COLUMNS} from workspace where id = $1 for update`,
    values: [id],
  });
  return only(rows);
}

/** @throws a unique violation of `workspace_slug_key`. */
export async function updateWorkspace(
  tx: Queryable,
  { id, ...values }: WorkspaceRow,
): Promise<WorkspaceRow> {
  const { rows } = await tx.query<WorkspaceRow>({
    name: "update-workspace",
    text: `update workspace
           set (${WRITTEN}, updated_at) =
             (select ${WRITTEN}, clock_timestamp() from jsonb_populate_record(null::workspace, $2))
           where id = $1 returning ${COLUMNS}`,
    values: [id, JSON.stringify(values)],
  });
  return only(rows);
}

function only(rows: readonly WorkspaceRow[]): WorkspaceRow {
  const [row] = rows;
  // A workspace is never deleted, and its key has just been admitted.
  if (row === undefined) throw new Error("the workspace of a key is there");
  return row;
}
