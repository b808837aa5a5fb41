import { z } from "zod";
import {
  IS_NOT_OVERDUE_CONDITION,
  IS_OVERDUE_CONDITION,
  listOwnInvoices as listOwnRows,
  listInvoices as listRows,
  readInvoice,
} from "../../../schemas/billing/read-invoices.ts";
import { advertiserOnly, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import {
  booleanParam,
  currencyParam,
  idParam,
  pageParams,
  wordParam,
} from "../../http/query-fields.ts";
import { statementName } from "../../http/statement-name.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { findLine, listEntries } from "./invoice-entries.ts";
import { INVOICE_STATUSES, oneInvoice, ShownInvoice, ShownInvoiceEntry } from "./invoice-fields.ts";

const path = z.object({ id: pathId });
const many = z.object({ data: z.array(ShownInvoice), next_cursor: z.string().nullable() });

export const listInvoices: Operation = operation({
  name: "listInvoices",
  method: "GET",
  path: "/invoices",
  tag: "Billing",
  summary: "List invoices",
  description: "Invoices and credit notes of advertisers, newest first.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...INVOICE_STATUSES),
      advertiser_id: idParam,
      currency: currencyParam,
      overdue: booleanParam.meta({ description: "Open after the due day" }),
    }),
  },
  output: many,
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listInvoices", query);
    const rows = await listRows(context.db, context.workspace.id, {
      ...statementName("list-invoices", page.filters),
      after: page.after,
      rowsMax: page.rowsMax,
      conditions: conditionsOf(
        page.filters,
        {
          overdue: (isOverdue) =>
            isOverdue === true ? IS_OVERDUE_CONDITION : IS_NOT_OVERDUE_CONDITION,
        },
        "i",
      ),
    });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "invoice", row),
      }),
    };
  },
});

export const getInvoice: Operation = operation({
  name: "getInvoice",
  method: "GET",
  path: "/invoices/{id}",
  tag: "Billing",
  summary: "Get an invoice",
  description: "With its lines and the payments that cover it.",
  access: unrestrictedStaff,
  input: { path },
  output: oneInvoice,
  status: 200,
  run: async ({ db, workspace, principal }, { path: { id } }) => {
    const invoice = await readInvoice(db, workspace.id, { id });
    if (invoice === undefined) throw notFound("invoice");
    return { body: { data: showTo(principal.role, "invoice", invoice) } };
  },
});

export const listInvoiceEntries: Operation = operation({
  name: "listInvoiceEntries",
  method: "GET",
  path: "/invoices/{id}/lines/{line}/entries",
  tag: "Billing",
  summary: "List what is behind a line of an invoice",
  description:
    "Entries of the ledger, newest first, with their conversions. Their amounts add up to the line.",
  access: unrestrictedStaff,
  input: { path: z.object({ id: pathId, line: pathId }), query: z.object(pageParams) },
  output: z.object({ data: z.array(ShownInvoiceEntry), next_cursor: z.string().nullable() }),
  status: 200,
  findResource: async ({ db, workspace }, { id, line }) => {
    const found = await findLine(db, workspace.id, { invoiceId: id, line });
    if (found === undefined) throw notFound("line of an invoice");
    return found;
  },
  run: async (context, { query, resource }) => {
    const page = openPage(context, "listInvoiceEntries", query);
    const rows = await listEntries(context.db, resource, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.posted_at, id: String(row.seq) }),
        show: (row) => showTo(context.principal.role, "invoice_entry", row),
      }),
    };
  },
});

export const listOwnInvoices: Operation = operation({
  name: "listOwnInvoices",
  method: "GET",
  path: "/me/invoices",
  tag: "Billing",
  summary: "List the advertiser's own invoices",
  description: "Invoices and credit notes that were sent, newest first.",
  access: advertiserOnly(),
  input: { query: z.object(pageParams) },
  output: many,
  status: 200,
  run: async (context, { query }) => {
    const { db, principal } = context;
    const page = openPage(context, "listOwnInvoices", query);
    const rows = await listOwnRows(db, principal.advertiser?.id ?? 0, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "invoice", row),
      }),
    };
  },
});

export const getOwnInvoice: Operation = operation({
  name: "getOwnInvoice",
  method: "GET",
  path: "/me/invoices/{id}",
  tag: "Billing",
  summary: "Get an own invoice",
  description: "With its lines and the payments that cover it.",
  access: advertiserOnly(),
  input: { path },
  output: oneInvoice,
  status: 200,
  run: async ({ db, workspace, principal }, { path: { id } }) => {
    const advertiserId = principal.advertiser?.id ?? 0;
    const invoice = await readInvoice(db, workspace.id, { id, advertiserId });
    if (invoice === undefined) throw notFound("invoice");
    return { body: { data: showTo(principal.role, "invoice", invoice) } };
  },
});
