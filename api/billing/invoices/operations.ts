import type { Operation } from "../../operation/operation.ts";
import { getAdvertiserTax, setAdvertiserTax } from "./advertiser-tax.ts";
import { getInvoiceFile, getOwnInvoiceFile } from "./invoice-file-operations.ts";
import {
  approveInvoiceOperation,
  closeInvoices,
  creditInvoiceOperation,
  voidInvoiceOperation,
} from "./invoice-operations.ts";
import {
  getInvoice,
  getOwnInvoice,
  listInvoiceEntries,
  listInvoices,
  listOwnInvoices,
} from "./list-invoices.ts";
import {
  createPayment,
  getPayment,
  listPayments,
  reversePaymentOperation,
} from "./payment-operations.ts";

/** Invoices and payments of advertisers. */
export const invoiceOperations: readonly Operation[] = [
  listInvoices,
  getInvoice,
  listInvoiceEntries,
  getInvoiceFile,
  closeInvoices,
  approveInvoiceOperation,
  voidInvoiceOperation,
  creditInvoiceOperation,
  listPayments,
  getPayment,
  createPayment,
  reversePaymentOperation,
  getAdvertiserTax,
  setAdvertiserTax,
  listOwnInvoices,
  getOwnInvoice,
  getOwnInvoiceFile,
];
