import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { shownCurrency, shownTime } from "../../fields/body-fields.ts";

export const STATUSES = ["active", "inactive"] as const;
/** The list is returned without paging. */
export const ROWS_MAX = 10_000;

export const ShownWorkspaceRow = z
  .strictObject({
    id: z.int(),
    slug: z.string(),
    name: z.string(),
    status: z
      .enum(STATUSES)
      .meta({ description: "An inactive workspace refuses its keys and people" }),
    timezone: z.string(),
    currency: shownCurrency,
    members: z.int().meta({ description: "People who may sign in to it" }),
    created_at: shownTime,
  })
  .meta({ id: "WorkspaceOfInstallation" });
export type WorkspaceListRow = z.infer<typeof ShownWorkspaceRow>;

const COLUMNS = `w.id, w.slug, w.name, w.status, w.timezone, w.currency, w.created_at,
  (select count(*) from membership m where m.workspace_id = w.id and m.status = 'active')::bigint as members`;

/** Every workspace of the installation, in the order of their slugs. */
export async function listWorkspaceRows(db: Queryable): Promise<WorkspaceListRow[]> {
  const { rows } = await db.query<WorkspaceListRow>({
    name: "list-workspaces-of-installation",
    text: `select ${COLUMNS} from workspace w order by w.slug limit $1`,
    values: [ROWS_MAX],
  });
  return rows;
}

export async function findWorkspaceRow(
  db: Queryable,
  id: number,
): Promise<WorkspaceListRow | undefined> {
  const { rows } = await db.query<WorkspaceListRow>({
    name: "find-workspace-of-installation",
    text: `select ${COLUMNS} from workspace w where w.id = $1`,
    values: [id],
  });
  return rows[0];
}
