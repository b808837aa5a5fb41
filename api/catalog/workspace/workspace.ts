import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { ManagedTable } from "../../records/managed-table.ts";
import { PatchWorkspaceBody, type WorkspaceRow } from "./workspace-fields.ts";

const table = new ManagedTable<WorkspaceRow>({
  table: "workspace",
  owner: "id",
  written: Object.keys(PatchWorkspaceBody.shape),
  readOnly: ["id", "postback_token", "created_at", "updated_at"],
});

export async function findWorkspace(db: Queryable, id: number): Promise<WorkspaceRow> {
  return present(await table.find(db, id, id));
}

/** Locks the row until the end of the transaction. */
export async function lockWorkspace(tx: Queryable, id: number): Promise<WorkspaceRow> {
  return present(await table.lock(tx, id, id));
}

/** @throws a unique violation of `workspace_slug_key`. */
export async function updateWorkspace(tx: Queryable, values: WorkspaceRow): Promise<WorkspaceRow> {
  const { id } = values;
  return present(await table.update(tx, id, { id, values }));
}

export async function setPostbackToken(
  db: Queryable,
  id: number,
  token: string,
): Promise<WorkspaceRow> {
  return present(await table.set(db, id, { id, column: "postback_token", value: token }));
}

function present(row: WorkspaceRow | undefined): WorkspaceRow {
  // A workspace is never deleted, and its key has just been admitted.
  if (row === undefined) throw new Error("the workspace of the key is gone");
  return row;
}
