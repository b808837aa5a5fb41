import { z } from "zod";
import { amountOf } from "../../../schemas/money/amount.ts";
import { cutToCoins } from "../../../schemas/money/minor-units.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import { unrestrictedAdminWrite, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { showTo } from "../../access/visibility.ts";
import { currency, money, recordId, text } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { time } from "../../fields/catalog-fields.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { currencyParam, idParam, pageParams, textParam } from "../../http/query-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type FieldFaults, type Operation, operation } from "../../operation/operation.ts";
import { ShownPayment } from "./invoice-fields.ts";
import { recordPayment, reversePayment } from "./payments.ts";
import { listPaymentRows, type PaymentRow, readPayment } from "./read-payments.ts";

const INVOICES_MAX = 100;
const EXTERNAL_ID_MAX = 200;
/** A payment may be dated this far ahead of our clock: banks have other time zones. */
const AHEAD_MS = DAY_MS;

const path = z.object({ id: pathId });
const one = z.object({ data: ShownPayment });

export const reason = text()
  .refine((value) => value.trim() !== "", "expected a reason")
  .meta({ examples: ["entered twice"] });

export const listPayments: Operation = operation({
  name: "listPayments",
  method: "GET",
  path: "/payments",
  tag: "Billing",
  summary: "List payments of advertisers",
  description: "Newest first.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      ...pageParams,
      advertiser_id: idParam,
      currency: currencyParam,
      external_id: textParam,
    }),
  },
  output: z.object({ data: z.array(ShownPayment), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listPayments", query);
    const rows = await listPaymentRows(context.db, context.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "advertiser_payment", row),
      }),
    };
  },
});

export const getPayment: Operation = operation({
  name: "getPayment",
  method: "GET",
  path: "/payments/{id}",
  tag: "Billing",
  summary: "Get a payment of an advertiser",
  access: unrestrictedStaff,
  input: { path },
  output: one,
  status: 200,
  findResource: async ({ db, workspace }, { id }) =>
    found(await readPayment(db, workspace?.id ?? 0, id)),
  run: async ({ principal }, { resource }) =>
    await Promise.resolve({
      body: { data: showTo(principal.role, "advertiser_payment", resource) },
    }),
});

export const createPayment: Operation = operation({
  name: "createPayment",
  method: "POST",
  path: "/payments",
  tag: "Billing",
  summary: "Enter a payment of an advertiser",
  description:
    "Covers the invoices in `invoice_ids`, then the oldest open ones. What is left is credit: it covers the next invoices when they are " +
    "approved. `external_id` is the name that the bank or payment service gave the payment: sent again with the same content, the answer is " +
    "the payment that is there, with status 200.",
  access: unrestrictedAdminWrite,
  input: {
    body: z.strictObject({
      advertiser_id: recordId,
      currency,
      amount: money,
      external_id: text(EXTERNAL_ID_MAX).refine(
        (value) => value.trim() !== "",
        "expected the name of the payment at the bank",
      ),
      received_at: time,
      invoice_ids: listOf(recordId, {
        expected: "expected a list of ids",
        max: INVOICES_MAX,
        tooMany: `expected at most ${INVOICES_MAX} ids`,
      }).optional(),
      note: text().optional(),
    }),
  },
  bodyDefaults: { invoice_ids: [], note: "" },
  output: one,
  status: 201,
  otherStatus: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findFaults: async (context, { body }) => ({
    ...(await referenceFaults(context, body, { advertiser_id: "advertiser" })),
    ...amountFaults(body),
    ...timeFaults(body["received_at"], context.nowMs),
  }),
  run: async (context, { body }) => {
    const invoiceIds = [...new Set(body.invoice_ids)];
    const { payment, isNew } = await recordPayment(context, {
      ...body,
      note: body.note ?? "",
      invoice_ids: invoiceIds,
    });
    const data = showTo(context.principal.role, "advertiser_payment", payment);
    return { body: { data }, status: isNew ? 201 : 200 };
  },
});

export const reversePaymentOperation: Operation = operation({
  name: "reversePayment",
  method: "POST",
  path: "/payments/{id}/reverse",
  tag: "Billing",
  summary: "Reverse a payment",
  description:
    "For a payment that was entered by mistake, once. What it covered is open again, or is covered by what other payments have left.",
  access: unrestrictedAdminWrite,
  input: { path, body: z.strictObject({ reason }) },
  output: one,
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: async ({ db, workspace }, { id }) =>
    found(await readPayment(db, workspace?.id ?? 0, id)),
  run: async (context, { body, resource }) => {
    const payment = await reversePayment(context, resource.id, body.reason);
    return { body: { data: showTo(context.principal.role, "advertiser_payment", payment) } };
  },
});

/** More than 0, and whole coins of the currency: nobody pays half a cent. */
function amountFaults(body: Readonly<Record<string, unknown>>): FieldFaults {
  const amount = money.safeParse(body["amount"]);
  const code = currency.safeParse(body["currency"]);
  if (!amount.success) return {};
  const value = amountOf(amount.data);
  if (value === 0n) return { amount: "expected more than 0" };
  if (!code.success || cutToCoins(value, code.data) === value) return {};
  return { amount: `is not a whole number of the smallest coins of ${code.data}` };
}

function timeFaults(receivedAt: unknown, nowMs: number): FieldFaults {
  const at = time.safeParse(receivedAt);
  return at.success && Date.parse(at.data) > nowMs + AHEAD_MS
    ? { received_at: "is in the future" }
    : {};
}

function found(payment: PaymentRow | undefined): PaymentRow {
  if (payment === undefined) throw notFound("payment");
  return payment;
}
