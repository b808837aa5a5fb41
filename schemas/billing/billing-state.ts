import type { Queryable } from "../postgres/connect.ts";

/** What a workspace has set about billing (N36), and whether the last audit found a violation, which stops approvals (N42). */
export type BillingState = {
  readonly enabled: boolean;
  /** First day whose conversions are posted, in the time zone of the workspace. */
  readonly starts_on: string | null;
  readonly legal: Readonly<Record<string, string>>;
  readonly approval: "single" | "four_eyes";
  readonly auto_approve: boolean;
  readonly statement_prefix: string;
  readonly invoice_prefix: string;
  readonly period_grace_hours: number;
  readonly payment_change_hold_hours: number;
  readonly wallet_names: Readonly<Record<string, string>>;
  readonly default_tax_text: string;
  readonly language: string;
  readonly has_violations: boolean;
};

/** Undefined for a workspace that has set nothing: nothing is posted there. */
export async function readBillingState(
  db: Queryable,
  workspaceId: number,
): Promise<BillingState | undefined> {
  const { rows } = await db.query<BillingState>({
    name: "read-billing-state",
    text: `select s.enabled, s.starts_on, s.legal, s.approval, s.auto_approve, s.statement_prefix, s.invoice_prefix,
             s.period_grace_hours, s.payment_change_hold_hours, s.wallet_names, s.default_tax_text, s.language,
             coalesce(a.violations <> '[]', false) as has_violations
           from billing_settings s left join billing_audit a on a.workspace_id = s.workspace_id
           where s.workspace_id = $1`,
    values: [workspaceId],
  });
  return rows[0];
}
