import { randomUUID } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Records a command that affects the whole installation in the audit log of every workspace (G177). */
export async function noteInAllWorkspaces(db: Queryable, action: string): Promise<void> {
  await db.query({
    name: "insert-audit-entry-for-all",
    text: `insert into audit_log (workspace_id, user_name, action, status, request_id)
           select id, 'command line', $1, 200, $2 from workspace`,
    values: [action, randomUUID()],
  });
}
