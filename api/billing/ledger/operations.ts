import type { Operation } from "../../operation/operation.ts";
import { adjustmentOperations } from "./adjustment-operations.ts";
import { auditOperations } from "./audit-operations.ts";
import { getBillingSettings, updateBillingSettings } from "./billing-settings-operations.ts";
import { listBalances } from "./list-balances.ts";
import { listChanges } from "./list-changes.ts";
import { listLedger } from "./list-ledger.ts";
import { getEarnings, getOwnBilling } from "./own-balances.ts";

/** Settings of billing, adjustments, ledger, balances and audit. */
export const ledgerOperations: readonly Operation[] = [
  getBillingSettings,
  updateBillingSettings,
  listBalances,
  getEarnings,
  getOwnBilling,
  ...adjustmentOperations,
  listLedger,
  ...auditOperations,
  listChanges,
];
