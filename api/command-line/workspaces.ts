import { canonicalHost } from "../../schemas/catalog/tracking-host.ts";
import { isCurrency } from "../../schemas/money/currencies.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { zoneOf } from "../../schemas/time/zone.ts";
import { insertKey } from "../access/insert-key.ts";
import type { PrincipalWorkspace } from "../access/principal.ts";
import { mintPostbackToken } from "../account/own-tokens.ts";
import { WORKSPACE_SLUG } from "../rest/catalog-fields.ts";
import { CommandError, UsageError } from "./command-error.ts";

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

export type Workspace = PrincipalWorkspace & {
  readonly status: string;
  readonly postback_token: string;
};

const NAME_MAX = 200;

/** Validates the options of `workspace create` and applies the defaults of G180. @throws {UsageError} for an invalid value. */
export function readNewWorkspace(asked: {
  readonly name: string;
  readonly slug: string | undefined;
  readonly timezone: string | undefined;
  readonly currency: string | undefined;
}): NewWorkspace {
  const { name, timezone = "UTC", currency = "USD" } = asked;
  const slug = asked.slug ?? slugOf(name);
  if (name.trim() === "" || name.length > NAME_MAX)
    throw new UsageError("--name must have 1 to 200 characters");
  if (!WORKSPACE_SLUG.test(slug)) {
    throw new UsageError(
      "--slug must be lower-case letters, digits and hyphens, at most 63 of them",
    );
  }
  if (zoneOf(timezone) === undefined) {
    throw new UsageError(`--timezone ${timezone} is not an IANA time zone such as Europe/Berlin`);
  }
  if (!isCurrency(currency))
    throw new UsageError(`--currency ${currency} is not an ISO 4217 code such as USD`);
  return { name, slug, timezone, currency };
}

/** `note` records the command in the same transaction. @throws {CommandError} when the slug is taken. */
export async function createWorkspace(
  db: Pool,
  workspace: NewWorkspace,
  note?: (tx: Queryable, created: CreatedWorkspace) => Promise<unknown>,
): Promise<CreatedWorkspace> {
  try {
    return await inTransaction(db, async (tx) => {
      const created = await insertWorkspace(tx, workspace);
      await note?.(tx, created);
      return created;
    });
  } catch (error) {
    if (violatedConstraint(error) !== "workspace_slug_key") throw error;
    throw new CommandError(
      `Workspace ${workspace.slug} exists already: choose another name with --slug.`,
      {
        cause: error,
      },
    );
  }
}

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

export async function findWorkspace(db: Queryable, slug: string): Promise<Workspace | undefined> {
  const { rows } = await db.query<Workspace>({
    name: "find-workspace-by-slug",
    text: `select id, slug, name, brand_name, timezone, currency, status, postback_token from workspace
           where slug = $1`,
    values: [slug],
  });
  return rows[0];
}

/** @throws {CommandError} when it does not exist. */
export async function getWorkspace(db: Queryable, slug: string): Promise<Workspace> {
  const workspace = await findWorkspace(db, slug);
  if (workspace === undefined) {
    throw new CommandError(`There is no workspace ${slug}. \`workspace create\` creates one.`);
  }
  return workspace;
}

/** Every workspace of the installation, ordered by slug, at most `rowsMax`. */
export async function listWorkspaces(db: Queryable, rowsMax: number): Promise<Workspace[]> {
  const { rows } = await db.query<Workspace>({
    name: "list-workspaces",
    text: `select id, slug, name, brand_name, timezone, currency, status, postback_token from workspace
           order by slug limit $1`,
    values: [rowsMax],
  });
  return rows;
}

function slugOf(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, 63).replace(/-+$/, "");
}
