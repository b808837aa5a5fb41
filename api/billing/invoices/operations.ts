import type { Operation } from "../../operation/operation.ts";

/** Invoices and payments of advertisers. */
export const invoiceOperations: readonly Operation[] = [];
