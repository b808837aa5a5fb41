import { auditBilling } from "../../schemas/billing/audit.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";

/** Violations in one log line. */
const LOGGED_MAX = 10;

/**
 * Audits the books of all workspaces, one after the other (N42). Returns the number of audited workspaces. A workspace that cannot be audited
 * now does not keep the others waiting.
 */
export async function auditBooks(
  { pool, log }: { readonly pool: Pool; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  let audited = 0;
  const faults: unknown[] = [];
  for (const workspaceId of await listWorkspaces(pool)) {
    if (signal.aborted) return audited;
    try {
      const found = await auditBilling(pool, workspaceId);
      audited += 1;
      if (found.length === 0) continue;
      const violations = found.slice(0, LOGGED_MAX);
      log.error({ workspaceId, count: found.length, violations }, "ledger.violated");
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, "some workspaces were not audited");
  return audited;
}

async function listWorkspaces(pool: Pool): Promise<readonly number[]> {
  const { rows } = await pool.query<{ workspace_id: number }>({
    name: "list-billing-workspaces",
    text: "select workspace_id from billing_settings order by workspace_id",
  });
  return rows.map(({ workspace_id }) => workspace_id);
}
