import { z } from "zod";
import { closeInvoices as close } from "../../../schemas/billing/close-invoices.ts";
import { type Invoice, readInvoice } from "../../../schemas/billing/read-invoices.ts";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { showTo } from "../../access/visibility.ts";
import { flag, recordId } from "../../fields/body-fields.ts";
import { time } from "../../fields/catalog-fields.ts";
import { pathId } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { creditInvoice } from "./credit-invoice.ts";
import { oneInvoice, ShownClosedInvoice } from "./invoice-fields.ts";
import { approveInvoice, changeInvoice, voidInvoice } from "./invoice-writes.ts";
import { reason } from "./payment-operations.ts";

const CLOSED_MAX = 200;

const path = z.object({ id: pathId });
const common = {
  method: "POST",
  tag: "Billing",
  access: unrestrictedAdminWrite,
} as const;

export const closeInvoices: Operation = operation({
  ...common,
  name: "closeInvoices",
  path: "/invoices/close",
  summary: "Close periods of advertisers",
  description:
    "Makes a draft for each period that has ended by the billing terms of its advertiser. The service does the same by itself some hours " +
    "after the end of a period. With `until`, also what was posted after the last whole period is closed; terms `on_request` and " +
    "`prepaid` are closed only so. A total of 0 or less is carried to the next invoice. `dry_run` changes nothing. " +
    `About ${CLOSED_MAX} invoices at most: while \`is_complete\` is false, call again.`,
  input: {
    body: z.strictObject({
      advertiser_id: recordId.optional(),
      until: time.optional(),
      dry_run: flag.optional(),
    }),
  },
  bodyDefaults: { dry_run: false },
  output: z.object({
    data: z.strictObject({
      dry_run: z.boolean(),
      is_complete: z.boolean(),
      invoices: z.array(ShownClosedInvoice),
    }),
  }),
  status: 200,
  keepsAnswer: true,
  findFaults: async (context, { body }) => ({
    ...(await referenceFaults(context, body, { advertiser_id: "advertiser" })),
    ...untilFaults(body, context.nowMs),
  }),
  run: async (context, { body }) => {
    const { db, workspace, principal, nowMs, requestId, trace } = context;
    const isDryRun = body.dry_run ?? false;
    const { invoices, isComplete } = await close(db, {
      workspaceId: workspace.id,
      timezone: workspace.timezone,
      endedByMs: body.until === undefined ? nowMs : Date.parse(body.until),
      untilMs: body.until === undefined ? undefined : Date.parse(body.until),
      advertiserId: body.advertiser_id,
      isDryRun,
      invoicesMax: CLOSED_MAX,
      cause: { request_id: requestId, traceparent: trace?.traceparent },
    });
    const shown = invoices.map((invoice) =>
      showTo(principal.role, "invoice", isDryRun ? { ...invoice, id: null } : invoice),
    );
    return { body: { data: { dry_run: isDryRun, is_complete: isComplete, invoices: shown } } };
  },
});

export const approveInvoiceOperation: Operation = operation({
  ...common,
  name: "approveInvoice",
  path: "/invoices/{id}/approve",
  summary: "Approve an invoice",
  description:
    "Gives a draft its number, posts its tax and makes its files. The advertiser sees it from then on. What earlier payments have left " +
    "covers it at once. Refused while the last audit of the ledger has found violations.",
  input: { path },
  output: oneInvoice,
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: ofPath,
  run: async (context, { resource }) =>
    answerOf(
      context,
      await changeInvoice(context, resource.id, (locked) => approveInvoice(context, locked)),
    ),
});

export const voidInvoiceOperation: Operation = operation({
  ...common,
  name: "voidInvoice",
  path: "/invoices/{id}/void",
  summary: "Make a draft void",
  description:
    "Only the newest invoice of an advertiser in a currency, while it is a draft or carried. What was on it goes on the next one.",
  input: { path },
  output: oneInvoice,
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: ofPath,
  run: async (context, { resource }) =>
    answerOf(context, await changeInvoice(context, resource.id, voidInvoice)),
});

export const creditInvoiceOperation: Operation = operation({
  ...common,
  name: "creditInvoice",
  path: "/invoices/{id}/credit",
  summary: "Credit an invoice",
  description:
    "Takes back the whole invoice by a credit note with its own number, which is the answer. What payments covered of the invoice covers " +
    "other invoices. What was on it is not invoiced again: enter an adjustment for what is still owed.",
  input: { path, body: z.strictObject({ reason }) },
  output: oneInvoice,
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: ofPath,
  run: async (context, { resource, body }) =>
    answerOf(
      context,
      await changeInvoice(context, resource.id, (locked) =>
        creditInvoice(context, locked, body.reason),
      ),
    ),
});

function answerOf({ principal }: OperationContext, invoice: Invoice) {
  return { body: { data: showTo(principal.role, "invoice", invoice) } };
}

async function ofPath(
  { db, workspace }: Pick<OperationContext, "db" | "workspace">,
  { id }: { readonly id: number },
): Promise<Invoice> {
  const invoice = await readInvoice(db, workspace.id, { id });
  if (invoice === undefined) throw notFound("invoice");
  return invoice;
}

function untilFaults(body: Readonly<Record<string, unknown>>, nowMs: number): FieldFaults {
  const until = time.safeParse(body["until"]);
  if (!until.success) return {};
  if (body["advertiser_id"] === undefined) return { until: "needs an advertiser_id" };
  return Date.parse(until.data) > nowMs ? { until: "is in the future" } : {};
}
