import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { amountOf, formatAmount } from "../../../../schemas/money/amount.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { noteChange } from "../../../access/change-log.ts";
import { affiliates } from "../../../catalog/affiliates/affiliates.ts";
import {
  notePaymentChange,
  tellPaymentChange,
} from "../../../catalog/affiliates/payment-change.ts";
import { openTexts } from "../../../catalog/affiliates/sealed-details.ts";
import { presentFields } from "../../../http/patch.ts";
import { asObject } from "../../../operation/json-object.ts";
import type { FieldFaults, OperationContext } from "../../../operation/operation.ts";
import {
  detailsOf,
  type PaymentRow,
  readPaymentRow,
  savePaymentAccount,
} from "./payment-accounts.ts";
import {
  detailFaults,
  maskDetails,
  PAYMENT_METHODS,
  PaymentDetails,
  type PaymentMethod,
  tidyDetails,
} from "./payment-details.ts";
import type { PaymentMethodBody, Tax } from "./payment-method-fields.ts";

type Body = z.output<typeof PaymentMethodBody>;

/** Faults of the details and the tax of a body. Both parts have passed their schema. */
export async function paymentMethodFaults(
  context: OperationContext,
  body: Readonly<Record<string, unknown>>,
  affiliateId: number,
): Promise<FieldFaults> {
  const row = await readPaymentRow(context.db, context.workspace.id, affiliateId);
  return {
    ...faultsOfDetails(row, body),
    ...faultsOfTax(row, asObject(body["tax"]), context.principal.role === "partner"),
  };
}

function faultsOfDetails(row: PaymentRow, body: Readonly<Record<string, unknown>>): FieldFaults {
  const method = PAYMENT_METHODS.find((known) => known === body["payment_method"]);
  if (method === undefined) return {};
  if (body["payment_details"] === undefined)
    return method === row.method ? {} : { payment_details: "expected the details of this method" };
  const details = PaymentDetails.safeParse(body["payment_details"]);
  return details.success ? detailFaults(method, tidyDetails(details.data)) : {};
}

/** A partner does not say how much tax the network adds to what it pays. */
function faultsOfTax(
  row: PaymentRow,
  tax: Readonly<Record<string, unknown>>,
  isPartner: boolean,
): FieldFaults {
  const faults: Record<string, string> = {};
  const mode = tax["mode"] ?? row.tax_mode;
  if (isPartner && mode !== row.tax_mode) faults["tax.mode"] = "only the network sets it";
  if (isPartner && tax["rate"] !== undefined && Number(tax["rate"]) !== Number(row.tax_rate))
    faults["tax.rate"] = "only the network sets it";
  const vatId = tax["vat_id"] ?? row.vat_id;
  if (!isPartner && mode === "reverse_charge" && vatId === "")
    faults["tax.vat_id"] = "is needed for reverse charge";
  return faults;
}

/** Writes what differs. A change of method or details is noted and holds payouts; the same details again do not. */
export async function savePaymentMethod(
  context: OperationContext,
  affiliateId: number,
  { payment_method: method, payment_details: given, tax }: Body,
): Promise<void> {
  const { db, workspace } = context;
  await inTransaction(db, async (tx) => {
    await tx.query({
      name: "lock-affiliate-of-payment",
      text: "select from affiliate where workspace_id = $1 and id = $2 for no key update",
      values: [workspace.id, affiliateId],
    });
    const before = await readPaymentRow(tx, workspace.id, affiliateId);
    if (given !== undefined) await saveDetails(tx, context, { before, method, given });
    if (tax !== undefined) await saveTax(tx, context, before, tax);
  });
}

async function saveDetails(
  tx: Queryable,
  context: OperationContext,
  {
    before,
    method,
    given,
  }: {
    readonly before: PaymentRow;
    readonly method: PaymentMethod;
    readonly given: PaymentDetails;
  },
): Promise<void> {
  const { secretKeys: keys, workspace } = context;
  const { affiliate_id: affiliateId } = before;
  const details = tidyDetails(given);
  if (method === before.method && isDeepStrictEqual(details, detailsOf(keys, before))) return;
  const masked = maskDetails(details);
  const isSeen =
    method !== before.method ||
    !isDeepStrictEqual(masked, openTexts(keys, affiliateId, before.sealed_texts));
  const row = await affiliates.change(tx, context, {
    id: affiliateId,
    body: { payment_method: method, payment_details: masked },
  });
  // Other details may have the same ends. Then the record of the contract does not change, and notes nothing.
  if (!isSeen) await notePaymentChange(tx, context, { before: row, after: row });
  const account = { workspaceId: workspace.id, affiliateId, method, details, masked };
  await savePaymentAccount(tx, keys, account);
}

async function saveTax(
  tx: Queryable,
  context: OperationContext,
  before: PaymentRow,
  tax: Tax,
): Promise<void> {
  const workspaceId = context.workspace.id;
  const { affiliate_id: affiliateId } = before;
  const was = {
    country: before.tax_country,
    vat_id: before.vat_id,
    mode: before.tax_mode,
    rate: formatAmount(amountOf(before.tax_rate)),
  };
  const is = { ...was, ...presentFields(tax) };
  if (isDeepStrictEqual(is, was)) return;
  await tx.query({
    name: "save-tax-of-affiliate",
    text: `insert into tax_record (workspace_id, affiliate_id, country, vat_id, mode, rate) values ($1, $2, $3, $4, $5, $6)
           on conflict (affiliate_id) do update set country = excluded.country, vat_id = excluded.vat_id, mode = excluded.mode,
             rate = excluded.rate, updated_at = clock_timestamp()`,
    values: [workspaceId, affiliateId, is.country, is.vat_id, is.mode, is.rate],
  });
  await noteChange(tx, context, {
    resource: "affiliate-tax",
    resourceId: affiliateId,
    before: was,
    after: is,
  });
  const row = {
    id: affiliateId,
    code: before.affiliate_code,
    name: before.affiliate_name,
    email: before.affiliate_email,
    payment_method: before.method,
  };
  await tellPaymentChange(tx, context, { before: row, after: row, what: "tax details" });
}
