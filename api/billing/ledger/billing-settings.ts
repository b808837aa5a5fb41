import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { PatchBillingSettings } from "./billing-settings-fields.ts";

type Setting = {
  readonly [Name in keyof PatchBillingSettings]-?: Exclude<PatchBillingSettings[Name], undefined>;
};

export type BillingSettings = Omit<Setting, "starts_on" | "payout_currency"> & {
  readonly starts_on: string | null;
  /** Whether something is posted. */
  readonly has_entries: boolean;
  readonly audited_at: string | null;
  readonly violations: number;
  readonly updated_at: string | null;
};

const NO_LEGAL = { name: "", address: "", vat_id: "", iban: "", bic: "" };
const NO_WALLETS = { wallet_a: "", wallet_b: "" };

/** With the defaults of the table for a workspace that has set nothing. */
export async function findBillingSettings(
  db: Queryable,
  workspaceId: number,
): Promise<BillingSettings> {
  const { rows } = await db.query<BillingSettings>({
    name: "find-billing-settings",
    text: `select coalesce(s.enabled, false) as enabled, s.starts_on,
             exists (select from ledger_transaction t where t.workspace_id = w.id) as has_entries,
             coalesce(s.legal, '{}') as legal, coalesce(s.approval, 'single') as approval,
             coalesce(s.auto_approve, false) as auto_approve, coalesce(s.statement_prefix, 'S-{year}-') as statement_prefix,
             coalesce(s.invoice_prefix, 'I-{year}-') as invoice_prefix, coalesce(s.period_grace_hours, 2) as period_grace_hours,
             coalesce(s.payment_change_hold_hours, 48) as payment_change_hold_hours, coalesce(s.wallet_names, '{}') as wallet_names,
             coalesce(s.default_tax_text, '') as default_tax_text, coalesce(s.language, 'en') as language,
             a.audited_at, coalesce(jsonb_array_length(a.violations), 0) as violations, s.updated_at
           from workspace w left join billing_settings s on s.workspace_id = w.id
             left join billing_audit a on a.workspace_id = w.id
           where w.id = $1`,
    values: [workspaceId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a caller has a workspace");
  return {
    ...row,
    legal: { ...NO_LEGAL, ...row.legal },
    wallet_names: { ...NO_WALLETS, ...row.wallet_names },
  };
}

/** Until the end of the transaction nobody else changes the settings of the workspace. */
export async function lockBillingSettings(db: Queryable, workspaceId: number): Promise<void> {
  await db.query({
    name: "add-billing-settings",
    text: "insert into billing_settings (workspace_id) values ($1) on conflict do nothing",
    values: [workspaceId],
  });
  await db.query({
    name: "lock-billing-settings",
    text: "select from billing_settings where workspace_id = $1 for update",
    values: [workspaceId],
  });
}

/**
 * `isSwitched`: the lane looks again at all that was recorded before this transaction, which posts what is not posted yet.
 */
export async function saveBillingSettings(
  db: Queryable,
  workspaceId: number,
  { settings, isSwitched }: { readonly settings: BillingSettings; readonly isSwitched: boolean },
): Promise<void> {
  await db.query({
    name: "save-billing-settings",
    text: `update billing_settings
           set enabled = $2, starts_on = $3, legal = $4, approval = $5, auto_approve = $6, statement_prefix = $7, invoice_prefix = $8,
             period_grace_hours = $9, payment_change_hold_hours = $10, wallet_names = $11, default_tax_text = $12, language = $13,
             enabled_xid = case when $14 then pg_current_xact_id() else enabled_xid end,
             backfill_xid = case when $14 then null else backfill_xid end,
             backfilled_to = case when $14 then null else backfilled_to end,
             updated_at = clock_timestamp()
           where workspace_id = $1`,
    values: [
      workspaceId,
      settings.enabled,
      settings.starts_on,
      settings.legal,
      settings.approval,
      settings.auto_approve,
      settings.statement_prefix,
      settings.invoice_prefix,
      settings.period_grace_hours,
      settings.payment_change_hold_hours,
      settings.wallet_names,
      settings.default_tax_text,
      settings.language,
      isSwitched,
    ],
  });
}
