import type { Operation } from "../operation/operation.ts";
import { invoiceOperations } from "./invoices/operations.ts";
import { ledgerOperations } from "./ledger/operations.ts";
import { payoutOperations } from "./payouts/operations.ts";
import { statementOperations } from "./statements/operations.ts";

/** The money side of a network: what is owed, and what was paid. */
export const billingOperations: readonly Operation[] = [
  ...ledgerOperations,
  ...statementOperations,
  ...payoutOperations,
  ...invoiceOperations,
];
