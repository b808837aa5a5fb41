import { type Amount, amountOf, formatAmount } from "../money/amount.ts";
import { cutToCoins } from "../money/minor-units.ts";
import type { Queryable } from "../postgres/connect.ts";
import { formatDay, parseDay } from "../time/calendar.ts";
import { zoneOf } from "../time/zone.ts";
import { queueBillingEvent } from "./billing-event.ts";
import type { CloseScope } from "./close-scope.ts";
import { type BillingPeriod, type PaymentTerms, periodOf } from "./periods.ts";
import { type Invoice, readInvoice } from "./read-invoices.ts";
import { lockReceivable, type Receivable } from "./receivables.ts";
import { taxOf, taxOnDocument } from "./tax-of.ts";

/** Of one account in one call. */
const PERIODS_MAX = 60;
/** Terms without periods: closed only when somebody says until when. */
const ON_REQUEST: ReadonlySet<string> = new Set(["on_request", "prepaid"]);

/** Where the last invoice of an account ended. */
type LastInvoice = {
  readonly to_seq: number;
  readonly carried_out: string;
  readonly period_to: string | null;
};

type Line = {
  readonly kind: string;
  readonly offer_id: number | null;
  readonly event_code: string | null;
  readonly count: number;
  readonly amount: string;
};

/** Closes the ended periods of one account, oldest first. Must run in a transaction. */
export async function closeAccount(
  tx: Queryable,
  accountId: number,
  scope: CloseScope,
): Promise<Invoice[]> {
  const account = await lockReceivable(tx, accountId);
  // Nothing is posted until this transaction ends, so what was posted before the end of a period is known.
  await tx.query({
    name: "lock-balance-of-receivable",
    text: "select 1 from ledger_balance where account_id = $1 for update",
    values: [accountId],
  });
  const closed: Invoice[] = [];
  while (closed.length < PERIODS_MAX) {
    const id = await closeNext(tx, account, scope);
    if (id === undefined) return closed;
    const invoice = await readInvoice(tx, scope.workspaceId, { id });
    if (invoice === undefined) throw new Error("an invoice is gone that was just made");
    closed.push(invoice);
    if (invoice.status !== "draft") continue;
    const { workspaceId, cause } = scope;
    const makeData = async () => await Promise.resolve(invoice);
    await queueBillingEvent(tx, workspaceId, "invoice.created", { cause, makeData });
  }
  return closed;
}

/** The id of the next invoice; undefined if there is nothing to close. */
async function closeNext(
  tx: Queryable,
  account: Receivable,
  scope: CloseScope,
): Promise<number | undefined> {
  const last = await readLast(tx, account.id);
  const firstMs = await firstEntryMs(tx, account.id, last.to_seq);
  if (firstMs === undefined) return undefined;
  const lastEndMs = last.period_to === null ? undefined : Date.parse(last.period_to);
  const period = nextPeriod(account.terms, Math.max(firstMs, lastEndMs ?? 0), scope);
  if (period === undefined || firstMs >= period.toMs) return undefined;
  const range = {
    fromSeq: last.to_seq,
    toSeq: await lastSeqBefore(tx, account.id, period.toMs),
    carriedIn: amountOf(last.carried_out),
    period: { ...period, fromMs: Math.max(period.fromMs, lastEndMs ?? 0) },
  };
  const lines = await readNewLines(tx, account.id, range);
  return await insertInvoice(tx, { account, scope }, { ...range, lines });
}

/** The period to close that contains an instant; undefined if it has not ended. */
function nextPeriod(
  terms: PaymentTerms,
  atMs: number,
  { timezone, endedByMs, untilMs }: CloseScope,
): BillingPeriod | undefined {
  if (!ON_REQUEST.has(terms)) {
    const whole = periodOf(terms, atMs, timezone);
    if (whole.toMs <= endedByMs) return whole;
    if (untilMs === undefined || untilMs <= atMs) return undefined;
    return { ...whole, toMs: untilMs, dueOn: dueAfter(whole, untilMs, timezone) };
  }
  if (untilMs === undefined || untilMs <= atMs) return undefined;
  return { fromMs: atMs, toMs: untilMs, dueOn: formatDay(dayOf(untilMs, timezone)) };
}

/** As many days after an earlier end as the terms say. */
function dueAfter(whole: BillingPeriod, untilMs: number, timezone: string): string {
  const netDays = (parseDay(whole.dueOn) ?? 0) - dayOf(whole.toMs, timezone);
  return formatDay(dayOf(untilMs, timezone) + netDays);
}

function dayOf(atMs: number, timezone: string): number {
  const zone = zoneOf(timezone);
  if (zone === undefined) throw new Error(`${timezone} is not a time zone`);
  return zone.dayAt(atMs);
}

async function readLast(tx: Queryable, accountId: number): Promise<LastInvoice> {
  const { rows } = await tx.query<LastInvoice>({
    name: "read-last-invoice",
    text: `select to_seq, carried_out, period_to from invoice
           where account_id = $1 and kind = 'invoice' and status <> 'void' order by to_seq desc, period_to desc limit 1`,
    values: [accountId],
  });
  return rows[0] ?? { to_seq: 0, carried_out: "0.0000", period_to: null };
}

/** When the first entry behind `seq` that goes on an invoice was posted. */
async function firstEntryMs(
  tx: Queryable,
  accountId: number,
  seq: number,
): Promise<number | undefined> {
  const { rows } = await tx.query<{ posted_at: string }>({
    name: "first-entry-to-invoice",
    text: `select posted_at from ledger_entry
           where account_id = $1 and seq > $2 and kind not in ('invoice_tax', 'payment', 'credit_note') order by seq limit 1`,
    values: [accountId, seq],
  });
  return rows[0] === undefined ? undefined : Date.parse(rows[0].posted_at);
}

async function lastSeqBefore(tx: Queryable, accountId: number, toMs: number): Promise<number> {
  const { rows } = await tx.query<{ seq: number }>({
    name: "last-entry-of-period",
    text: "select seq from ledger_entry where account_id = $1 and posted_at < $2 order by posted_at desc, seq desc limit 1",
    values: [accountId, new Date(toMs).toISOString()],
  });
  return rows[0]?.seq ?? 0;
}

type Range = {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly carriedIn: Amount;
  readonly period: BillingPeriod;
};

/** Conversions by offer and event, what was taken back of them apart (N44), clicks by offer, adjustments by their kind. */
async function readNewLines(
  tx: Queryable,
  accountId: number,
  { fromSeq, toSeq }: Range,
): Promise<readonly Line[]> {
  const { rows } = await tx.query<Line>({
    name: "read-lines-to-invoice",
    text: `select l.kind, l.offer_id, l.event_code, sum(l.count)::bigint as count, sum(l.amount) as amount
           from (
             select case e.kind when 'conversion' then case when e.amount < 0 then 'reversal' else 'conversions' end
                 when 'clicks' then 'clicks' when 'write_off' then 'write_off' else coalesce(j.kind, 'correction') end as kind,
               e.offer_id, case when e.kind = 'conversion' then e.event_code end as event_code, e.count, e.amount
             from ledger_entry e
             left join ledger_transaction t on t.id = e.transaction_id and e.kind = 'adjustment' and t.source_kind = 'adjustment'
               and t.source_id ~ '^[0-9]{1,18}$'
             left join adjustment j on j.id = t.source_id::bigint
             where e.account_id = $1 and e.seq > $2 and e.seq <= $3 and e.kind not in ('invoice_tax', 'payment', 'credit_note')) l
           group by l.kind, l.offer_id, l.event_code
           having sum(l.amount) <> 0 or sum(l.count) <> 0
           order by array_position(array['conversions', 'clicks', 'reversal'], l.kind), l.kind, l.offer_id, l.event_code`,
    values: [accountId, fromSeq, toSeq],
  });
  return rows;
}

/** A total of 0 or less, or below a coin, is carried (N58). */
async function insertInvoice(
  tx: Queryable,
  { account, scope }: { readonly account: Receivable; readonly scope: CloseScope },
  { fromSeq, toSeq, carriedIn, period, lines }: Range & { readonly lines: readonly Line[] },
): Promise<number> {
  const { currency } = account;
  const total = lines.reduce((sum, { amount }) => sum + amountOf(amount), carriedIn);
  const payable = total > 0n ? cutToCoins(total, currency) : 0n;
  const tax = taxOf(payable, account.tax, currency);
  const { rows } = await tx.query<{ id: number }>({
    name: "insert-invoice",
    text: `with made as (
             insert into invoice (workspace_id, advertiser_id, account_id, currency, status, terms, period_from, period_to, timezone,
               from_seq, to_seq, carried_in, total, payable, tax, tax_amount, gross, carried_out, due_on)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
             returning id
           ), lines as (
             insert into invoice_line (invoice_id, line, kind, offer_id, event_code, count, amount)
             select made.id, l.place, l.kind, l.offer_id, l.event_code, l.count, l.amount
             from made, rows from (jsonb_to_recordset($20) as (kind text, offer_id integer, event_code text, count bigint, amount numeric))
               with ordinality as l(kind, offer_id, event_code, count, amount, place)
           )
           select id from made`,
    values: [
      scope.workspaceId,
      account.advertiser_id,
      account.id,
      currency,
      payable > 0n ? "draft" : "carried",
      account.terms,
      new Date(period.fromMs).toISOString(),
      new Date(period.toMs).toISOString(),
      scope.timezone,
      fromSeq,
      Math.max(fromSeq, toSeq),
      formatAmount(carriedIn),
      formatAmount(total),
      formatAmount(payable),
      JSON.stringify(taxOnDocument(account.tax, account.tax_text)),
      formatAmount(tax),
      formatAmount(payable + tax),
      formatAmount(total - payable),
      period.dueOn,
      JSON.stringify(lines),
    ],
  });
  const [made] = rows;
  if (made === undefined) throw new Error("no invoice was made");
  return made.id;
}
