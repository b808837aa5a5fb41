import { approveStatement } from "../../schemas/billing/approve-statement.ts";
import { closeStatements } from "../../schemas/billing/close-statements.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { HOUR_MS, type Zone, zoneOf } from "../../schemas/time/zone.ts";

/** Accounts of one workspace in one round. */
const ACCOUNTS_MAX = 5_000;
/** Drafts that one round approves in a workspace that approves by itself. */
const APPROVALS_MAX = 5_000;

type DueWorkspace = {
  readonly id: number;
  readonly timezone: string;
  readonly period_grace_hours: number;
  readonly auto_approve: boolean;
  readonly default_tax_text: string;
  /** Of the oldest change of a conversion that is not posted. */
  readonly oldest_queued_at: string | null;
};

/** Closes the periods of all workspaces that have ended, `period_grace_hours` after their end (N48). Returns how many statements it made. */
export async function closeDueStatements(
  pool: Pool,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<number> {
  let made = 0;
  for (const workspace of await listWorkspaces(pool)) {
    const zone = zoneOf(workspace.timezone);
    if (signal.aborted || zone === undefined) break;
    made += await closeWorkspace(pool, workspace, { zone, nowMs, signal });
    if (workspace.auto_approve) await approveDrafts(pool, workspace.id, signal);
  }
  return made;
}

async function closeWorkspace(
  pool: Pool,
  workspace: DueWorkspace,
  {
    zone,
    nowMs,
    signal,
  }: { readonly zone: Zone; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<number> {
  const graceMs = workspace.period_grace_hours * HOUR_MS;
  // A change that was made before the end of a period and is not posted yet belongs to that period's books.
  const queuedMs = Date.parse(workspace.oldest_queued_at ?? "9999-12-31");
  const { made } = await closeStatements(pool, {
    books: { workspaceId: workspace.id, zone, taxText: workspace.default_tax_text },
    endedMs: Math.min(nowMs - graceMs, queuedMs),
    accountsMax: ACCOUNTS_MAX,
    signal,
  });
  return made.length;
}

async function listWorkspaces(pool: Pool): Promise<DueWorkspace[]> {
  const { rows } = await pool.query<DueWorkspace>({
    name: "list-workspaces-with-billing",
    text: `select w.id, w.timezone, s.period_grace_hours, s.auto_approve, s.default_tax_text,
             (select min(o.queued_at) from ledger_outbox o where o.workspace_id = w.id) as oldest_queued_at
           from billing_settings s join workspace w on w.id = s.workspace_id
           where s.enabled order by w.id`,
  });
  return rows;
}

/** The setting `auto_approve`. Violations of the audit stop it, as they stop everybody. */
async function approveDrafts(pool: Pool, workspaceId: number, signal: AbortSignal): Promise<void> {
  const { rows } = await pool.query<{ id: number }>({
    name: "list-drafts-of-statements",
    text: "select id from statement where workspace_id = $1 and status = 'draft' order by id limit $2",
    values: [workspaceId, APPROVALS_MAX],
  });
  for (const { id } of rows) {
    if (signal.aborted) return;
    const { outcome } = await approveStatement(pool, { workspaceId, id, by: {} });
    if (outcome === "violations") return;
  }
}
