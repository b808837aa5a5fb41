import { isCurrency } from "../../schemas/money/currencies.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { zoneOf } from "../../schemas/time/zone.ts";
import {
  type CreatedWorkspace,
  insertWorkspace,
  type NewWorkspace,
} from "../catalog/workspace/insert-workspace.ts";
import { WORKSPACE_SLUG } from "../fields/catalog-fields.ts";
import type { PrincipalWorkspace } from "../operation/principal.ts";
import { CommandError, UsageError } from "./command-error.ts";

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
