import { z } from "zod";
import { readBillingState } from "../../../../schemas/billing/billing-state.ts";
import { unrestrictedAdminWrite } from "../../../access/access-of-operations.ts";
import { showTo } from "../../../access/visibility.ts";
import { type AffiliateRow, findAffiliate } from "../../../catalog/affiliates/affiliates.ts";
import { reference } from "../../../http/path-fields.ts";
import type { Reference } from "../../../operation/codes.ts";
import { notFound } from "../../../operation/errors.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../../operation/operation.ts";
import { detailsOf, readPaymentRow } from "./payment-accounts.ts";
import {
  HOLD_HOURS,
  holdEnd,
  PaymentMethodBody,
  paymentMethodOf,
  ShownPaymentMethod,
} from "./payment-method-fields.ts";
import { paymentMethodFaults, savePaymentMethod } from "./save-payment-method.ts";

const ownRead: OperationAccess = { roles: ["partner"], isWrite: false };
const needsFresh = ["payment_details"];
const output = z.object({ data: ShownPaymentMethod });
const HOLD_NOTE =
  "A change of the method or of the details holds payouts to the partner for `payment_change_hold_hours` of the billing settings (48). It is told to " +
  "webhooks as `affiliate.payment_method_changed` and, if the installation sends mails, to the address of the partner before the change and to its people. " +
  "So is a change of the tax, which holds nothing. `GET /changes` has both, with the key and the address that they came from, and details only as masks.";

const getOwnPaymentMethod: Operation = operation({
  name: "getOwnPaymentMethod",
  method: "GET",
  path: "/me/payment-method",
  tag: "Payouts",
  summary: "Get how the own account is paid",
  access: ownRead,
  input: {},
  output,
  status: 200,
  failures: ["unavailable"],
  run: async (context) => await answer(context, ownId(context)),
});

const setOwnPaymentMethod: Operation = operation({
  name: "setOwnPaymentMethod",
  method: "PUT",
  path: "/me/payment-method",
  tag: "Payouts",
  summary: "Change how the own account is paid",
  description: HOLD_NOTE,
  access: { ...ownRead, isWrite: true, needsFresh },
  input: { body: PaymentMethodBody },
  output,
  status: 200,
  failures: ["unavailable"],
  findFaults: async (context, { body }) => await paymentMethodFaults(context, body, ownId(context)),
  run: async (context, { body }) => {
    await savePaymentMethod(context, ownId(context), body);
    return await answer(context, ownId(context));
  },
});

const path = z.object({ id: reference });
const findResource = async (
  { db, workspace }: OperationContext,
  { id }: { readonly id: Reference },
): Promise<AffiliateRow> => {
  const affiliate = await findAffiliate(db, workspace.id, id);
  if (affiliate === undefined) throw notFound("affiliate");
  return affiliate;
};

const getPaymentMethod: Operation = operation({
  name: "getPaymentMethod",
  method: "GET",
  path: "/affiliates/{id}/payment-method",
  tag: "Payouts",
  summary: "Get how a partner is paid",
  access: { ...unrestrictedAdminWrite, isWrite: false },
  input: { path },
  output,
  status: 200,
  failures: ["unavailable"],
  findResource,
  run: async (context, { resource }) => await answer(context, resource.id),
});

const setPaymentMethod: Operation = operation({
  name: "setPaymentMethod",
  method: "PUT",
  path: "/affiliates/{id}/payment-method",
  tag: "Payouts",
  summary: "Change how a partner is paid",
  description: HOLD_NOTE,
  access: { ...unrestrictedAdminWrite, needsFresh },
  input: { path, body: PaymentMethodBody },
  output,
  status: 200,
  failures: ["unavailable"],
  findResource,
  findFaults: async (context, { body, resource }) =>
    await paymentMethodFaults(context, body, resource.id),
  run: async (context, { body, resource }) => {
    await savePaymentMethod(context, resource.id, body);
    return await answer(context, resource.id);
  },
});

export const paymentMethodOperations: readonly Operation[] = [
  getOwnPaymentMethod,
  setOwnPaymentMethod,
  getPaymentMethod,
  setPaymentMethod,
];

function ownId({ principal }: OperationContext): number {
  if (principal.affiliate === null) throw new Error("only partners reach this operation");
  return principal.affiliate.id;
}

async function answer(context: OperationContext, affiliateId: number) {
  const { db, workspace, principal, secretKeys, nowMs } = context;
  const row = await readPaymentRow(db, workspace.id, affiliateId);
  const state = await readBillingState(db, workspace.id);
  const until = holdEnd(row.changed_at, state?.payment_change_hold_hours ?? HOLD_HOURS, nowMs);
  const shown = paymentMethodOf(row, detailsOf(secretKeys, row), until, state?.wallet_names);
  return { body: { data: showTo(principal.role, "payment_method", shown) } };
}
