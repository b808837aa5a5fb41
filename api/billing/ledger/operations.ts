import type { Operation } from "../../operation/operation.ts";

/** Settings of billing, adjustments, ledger, balances and audit. */
export const ledgerOperations: readonly Operation[] = [];
