import type { Queryable } from "../postgres/connect.ts";
import { type Condition, quoteConditions } from "../postgres/quote.ts";

/** An invoice or a credit note as answers show it, without its lines. */
export type InvoiceRow = {
  readonly id: number;
  readonly kind: "invoice" | "credit_note";
  readonly number: string | null;
  readonly status: "draft" | "sent" | "part_paid" | "paid" | "carried" | "credited" | "void";
  readonly is_overdue: boolean;
  readonly advertiser_id: number;
  readonly advertiser_name: string;
  readonly currency: string;
  readonly terms: string;
  readonly period_from: string;
  readonly period_to: string;
  readonly timezone: string;
  readonly carried_in: string;
  readonly total: string;
  readonly payable: string;
  readonly tax: { readonly mode: string; readonly rate: string; readonly text: string };
  readonly tax_amount: string;
  readonly gross: string;
  readonly carried_out: string;
  readonly paid: string;
  readonly open: string;
  readonly due_on: string;
  readonly credits_id: number | null;
  readonly credited_by_id: number | null;
  readonly reason: string;
  readonly created_at: string;
  readonly approved_at: string | null;
  readonly voided_at: string | null;
};

export type InvoiceLine = {
  readonly line: number;
  readonly kind: string;
  readonly offer_id: number | null;
  readonly offer_name: string | null;
  readonly event_code: string | null;
  readonly count: number;
  readonly amount: string;
};

/** What payments cover of an invoice. */
export type CoveringPayment = {
  readonly payment_id: number;
  readonly external_id: string;
  readonly received_at: string;
  readonly amount: string;
};

export type Invoice = InvoiceRow & {
  readonly lines: readonly InvoiceLine[];
  readonly payments: readonly CoveringPayment[];
};

/** Which part of a list: `after` is the last row of the page before. */
export type InvoicePage = {
  readonly name?: string;
  readonly after: { readonly at: string; readonly id: string } | undefined;
  readonly rowsMax: number;
  readonly conditions: readonly Condition[];
};

/** Today in the workspace decides what is overdue. */
const IS_OVERDUE =
  "i.kind = 'invoice' and i.status in ('sent', 'part_paid') and i.due_on < (now() at time zone w.timezone)::date";
const COLUMNS = `i.id, i.kind, i.number, i.status, ${IS_OVERDUE} as is_overdue, i.advertiser_id,
  a.name as advertiser_name, i.currency, i.terms, i.period_from, i.period_to, i.timezone, i.carried_in, i.total, i.payable, i.tax,
  i.tax_amount, i.gross, i.carried_out, i.paid,
  case when i.kind = 'invoice' and i.status in ('sent', 'part_paid') then i.gross - i.paid else 0.0000 end as open, i.due_on,
  i.credits_id, (select n.id from invoice n where n.credits_id = i.id) as credited_by_id, i.reason, i.created_at, i.approved_at,
  i.voided_at`;
const TABLES =
  "invoice i join advertiser a on a.id = i.advertiser_id join workspace w on w.id = i.workspace_id";
/** States in which an advertiser sees its invoices. */
const SENT = "i.number is not null";

export const IS_OVERDUE_CONDITION: Condition = { text: () => `(${IS_OVERDUE})`, values: [] };
export const IS_NOT_OVERDUE_CONDITION: Condition = {
  text: () => `not (${IS_OVERDUE})`,
  values: [],
};

/** Newest first, at most `rowsMax`. */
export async function listInvoices(
  db: Queryable,
  workspaceId: number,
  { name, after, rowsMax, conditions }: InvoicePage,
): Promise<InvoiceRow[]> {
  const { rows } = await db.query<InvoiceRow>({
    ...(name === undefined ? {} : { name }),
    text: `select ${COLUMNS} from ${TABLES}
           where i.workspace_id = $1 and (i.created_at, i.id) < ($2::timestamptz, $3::bigint) ${quoteConditions(conditions, 5)}
           order by i.created_at desc, i.id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      after?.id ?? "0",
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** The invoices that an advertiser got, newest first. */
export async function listOwnInvoices(
  db: Queryable,
  advertiserId: number,
  { after, rowsMax }: Pick<InvoicePage, "after" | "rowsMax">,
): Promise<InvoiceRow[]> {
  const { rows } = await db.query<InvoiceRow>({
    name: "list-own-invoices",
    text: `select ${COLUMNS} from ${TABLES}
           where i.advertiser_id = $1 and ${SENT} and (i.created_at, i.id) < ($2::timestamptz, $3::bigint)
           order by i.created_at desc, i.id desc limit $4`,
    values: [advertiserId, after?.at ?? "infinity", after?.id ?? "0", rowsMax],
  });
  return rows;
}

/** With `advertiserId` only what this advertiser got. Undefined if there is none. */
export async function readInvoice(
  db: Queryable,
  workspaceId: number,
  { id, advertiserId }: { readonly id: number; readonly advertiserId?: number | undefined },
): Promise<Invoice | undefined> {
  const { rows } = await db.query<InvoiceRow>({
    name: "read-invoice",
    text: `select ${COLUMNS} from ${TABLES}
           where i.workspace_id = $1 and i.id = $2 and ($3::integer is null or i.advertiser_id = $3 and ${SENT})`,
    values: [workspaceId, id, advertiserId ?? null],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return { ...row, lines: await readLines(db, id), payments: await readPayments(db, id) };
}

async function readLines(db: Queryable, invoiceId: number): Promise<InvoiceLine[]> {
  const { rows } = await db.query<InvoiceLine>({
    name: "read-invoice-lines",
    text: `select l.line, l.kind, l.offer_id, o.name as offer_name, l.event_code, l.count, l.amount
           from invoice_line l left join offer o on o.id = l.offer_id where l.invoice_id = $1 order by l.line`,
    values: [invoiceId],
  });
  return rows;
}

async function readPayments(db: Queryable, invoiceId: number): Promise<CoveringPayment[]> {
  const { rows } = await db.query<CoveringPayment>({
    name: "read-payments-of-invoice",
    text: `select p.id as payment_id, p.external_id, p.received_at, c.amount
           from (select payment_id, sum(amount) as amount from payment_allocation where invoice_id = $1
             group by payment_id having sum(amount) <> 0) c
           join advertiser_payment p on p.id = c.payment_id order by p.received_at, p.id`,
    values: [invoiceId],
  });
  return rows;
}
