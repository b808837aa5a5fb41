import { canonicalHost } from "../../../schemas/catalog/tracking-host.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { insertKey } from "../../access/insert-key.ts";
import { mintPostbackToken } from "../advertisers/own-tokens.ts";

export type NewWorkspace = {
  readonly name: string;
  readonly slug: string;
  readonly timezone: string;
  readonly currency: string;
  /** Origin of the first tracking domain of the first workspace; no domain when absent. */
  readonly trackingUrl?: string;
};

export type CreatedWorkspace = {
  readonly id: number;
  readonly slug: string;
  readonly postbackToken: string;
  readonly adminKey: string;
  /** True when the host of the tracking URL became its first domain. */
  readonly hasDomain: boolean;
};

/**
 * Inserts the workspace, its owner, the first admin key and, for the first workspace of an installation, the domain of its links
 * (G200).
 */
export async function insertWorkspace(
  tx: Queryable,
  workspace: NewWorkspace,
): Promise<CreatedWorkspace> {
  const postbackToken = mintPostbackToken();
  const { rows } = await tx.query<{ id: number; user_id: number }>({
    name: "insert-workspace",
    text: `with made as (
             insert into workspace (slug, name, brand_name, timezone, currency, postback_token)
             values ($1, $2, $2, $3, $4, $5) returning id)
           insert into app_user (workspace_id, name) select id, 'Owner' from made
           returning workspace_id as id, id as user_id`,
    values: [workspace.slug, workspace.name, workspace.timezone, workspace.currency, postbackToken],
  });
  const { id, user_id: userId } = rows[0] ?? { id: 0, user_id: 0 };
  const hasDomain =
    workspace.trackingUrl !== undefined &&
    (await insertFirstDomain(tx, id, new URL(workspace.trackingUrl)));
  const adminKey = await insertKey(tx, { workspaceId: id, name: "Admin", role: "admin", userId });
  return { id, slug: workspace.slug, postbackToken, adminKey, hasDomain };
}

/**
 * Stores the host in lower case, with a port only if it is not the scheme's default, as ingress compares the Host header. Returns
 * false when another workspace exists. The insert of this workspace has taken the lock of all catalog writers, so of two concurrent
 * calls the later sees the earlier.
 */
async function insertFirstDomain(
  tx: Queryable,
  workspaceId: number,
  { host, protocol }: URL,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: "insert-first-domain",
    text: `insert into tracking_domain (workspace_id, host, scheme, is_default)
           select $1::integer, $2, $3, true where not exists (select from workspace where id <> $1::integer)`,
    values: [workspaceId, canonicalHost(host), protocol.replace(":", "")],
  });
  return rowCount === 1;
}
