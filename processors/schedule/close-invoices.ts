import { closeInvoices } from "../../schemas/billing/close-invoices.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";

/** Of one workspace in one round. The next round continues. */
const INVOICES_MAX = 1_000;

type Workspace = {
  readonly id: number;
  readonly timezone: string;
  /** Periods that ended until then are closed: nothing that belongs to them waits to be posted any more. */
  readonly ended_by: string;
};

/**
 * Closes the ended periods of advertisers in every workspace with billing (N58), some hours after they ended. A workspace that fails does not
 * keep the others waiting. Returns how many invoices it made.
 */
export async function closeEndedPeriods(pool: Pool, signal: AbortSignal): Promise<number> {
  const failures: unknown[] = [];
  let made = 0;
  for (const { id, timezone, ended_by } of await workspacesWithBilling(pool)) {
    if (signal.aborted) break;
    try {
      const scope = {
        workspaceId: id,
        timezone,
        endedByMs: Date.parse(ended_by),
        isDryRun: false,
        invoicesMax: INVOICES_MAX,
      };
      made += (await closeInvoices(pool, scope, signal)).invoices.length;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `invoices of ${failures.length} workspaces were not closed`);
  return made;
}

async function workspacesWithBilling(db: Queryable): Promise<readonly Workspace[]> {
  const { rows } = await db.query<Workspace>({
    name: "workspaces-to-invoice",
    text: `select w.id, w.timezone,
             least(clock_timestamp() - s.period_grace_hours * interval '1 hour',
               (select min(o.queued_at) from ledger_outbox o where o.workspace_id = w.id)) as ended_by
           from billing_settings s join workspace w on w.id = s.workspace_id
           where s.enabled order by w.id`,
  });
  return rows;
}
