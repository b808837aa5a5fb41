import {
  AMOUNT_STORED_MAX,
  type Amount,
  amountOf,
  formatAmount,
  scaleAmount,
} from "../money/amount.ts";
import type { Queryable } from "../postgres/connect.ts";
import { findExchangeRates } from "../postgres/exchange-rates.ts";
import { formatDay } from "../time/calendar.ts";
import type { Zone } from "../time/zone.ts";
import { queueBillingEvent } from "./billing-event.ts";
import { type CloseLimits, type NextPeriod, nextPeriods } from "./next-period.ts";
import { lockBalance, type PartnerAccount, readPartnerAccounts } from "./partner-accounts.ts";
import { dueDay } from "./periods.ts";
import { SETTLING_KINDS } from "./post-ledger.ts";
import { type Settlement, settle } from "./settle.ts";
import {
  findStatement,
  listStatementLines,
  type StatementLine,
  type StatementRow,
  shownStatement,
} from "./statements.ts";
import { taxOnDocument } from "./tax-of.ts";

/** The workspace whose accounts are closed. */
export type Books = {
  readonly workspaceId: number;
  readonly zone: Zone;
  /** What stands on a document beside its tax. */
  readonly taxText: string;
};

export type MadeStatement = {
  readonly row: StatementRow;
  readonly lines: readonly StatementLine[];
};

/** Statements that one transaction makes, so that nobody waits long for the account. */
const STATEMENTS_MAX = 24;

/**
 * Makes the statements of one account that are due, each with the range behind the one before, under the lock of the account's balance (N48).
 * Call it in a transaction. It stops after 24: call it again until it makes none.
 */
export async function closeAccount(
  tx: Queryable,
  books: Books,
  accountId: number,
  limits: CloseLimits,
): Promise<MadeStatement[]> {
  await lockBalance(tx, accountId);
  const made: MadeStatement[] = [];
  while (made.length < STATEMENTS_MAX) {
    const page = { afterId: 0, rowsMax: 1, accountId };
    const [account] = await readPartnerAccounts(tx, books.workspaceId, page);
    if (account === undefined) break;
    const statement = await closeNext(tx, books, account, limits);
    if (statement === undefined) break;
    made.push(statement);
  }
  return made;
}

async function closeNext(
  tx: Queryable,
  books: Books,
  account: PartnerAccount,
  limits: CloseLimits,
): Promise<MadeStatement | undefined> {
  for (const period of nextPeriods(account, books.zone, limits)) {
    const found = await readRange(tx, account, period.toMs);
    const minPayout = await minimumOf(tx, books, account, period);
    const settled = settle({
      currency: account.currency,
      total: found.total,
      minPayout,
      tax: account.tax,
    });
    // Nothing moved and nothing can be paid.
    if (found.entries === 0 && settled.status === "carried") continue;
    const id = await insertStatement(tx, { books, account, period, found, minPayout, settled });
    return await announce(tx, books.workspaceId, id);
  }
  return undefined;
}

type FoundRange = {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Those that are on statements. */
  readonly entries: number;
  readonly total: Amount;
};

/** The entries behind the last statement that were posted before the end of the period. */
async function readRange(
  tx: Queryable,
  { accountId, last }: PartnerAccount,
  toMs: number,
): Promise<FoundRange> {
  const fromSeq = last?.toSeq ?? 0;
  const { rows } = await tx.query<{ to_seq: number; entries: number; earned: string }>({
    name: "read-range-of-account",
    text: `with ended as (
             select greatest($2::bigint, coalesce((select seq from ledger_entry where account_id = $1 and posted_at < $3
               order by posted_at desc, seq desc limit 1), 0)) as to_seq)
           select ended.to_seq, count(e.seq) as entries, coalesce(-sum(e.amount), 0) as earned
           from ended left join ledger_entry e
             on e.account_id = $1 and e.seq > $2 and e.seq <= ended.to_seq and e.kind <> all($4::text[])
           group by ended.to_seq`,
    values: [accountId, fromSeq, new Date(toMs).toISOString(), SETTLING_KINDS],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a range was not read");
  return {
    fromSeq,
    toSeq: row.to_seq,
    entries: row.entries,
    total: (last?.carriedOut ?? 0n) + amountOf(row.earned),
  };
}

/** The partner's minimum in the currency of the account, at the rate of the last day of the period. */
async function minimumOf(
  tx: Queryable,
  { workspaceId, zone }: Books,
  { minPayout, currency }: PartnerAccount,
  { toMs }: NextPeriod,
): Promise<Amount | undefined> {
  if (minPayout.amount === 0n || minPayout.currency === currency) return minPayout.amount;
  const date = formatDay(zone.dayAt(toMs - 1));
  const asked = [{ currency: minPayout.currency, date }];
  const [rate] = await findExchangeRates(tx, asked, { workspaceId, currency });
  if (rate === undefined) return undefined;
  const converted = scaleAmount(minPayout.amount, rate.numerator, rate.denominator);
  return converted > AMOUNT_STORED_MAX ? undefined : converted;
}

type NewStatement = {
  readonly books: Books;
  readonly account: PartnerAccount;
  readonly period: NextPeriod;
  readonly found: FoundRange;
  readonly minPayout: Amount | undefined;
  readonly settled: Settlement;
};

/** With its lines. Postgres refuses a statement that does not follow the one before it. */
async function insertStatement(tx: Queryable, statement: NewStatement): Promise<number> {
  const { books, account, period, found, minPayout, settled } = statement;
  const { rows } = await tx.query<{ id: number }>({
    name: "insert-statement",
    text: `insert into statement (workspace_id, affiliate_id, account_id, currency, status, terms, period_from, period_to, timezone,
             from_seq, to_seq, carried_in, total, min_payout, payable, tax, tax_amount, gross, carried_out, due_on)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
           returning id`,
    values: [
      books.workspaceId,
      account.affiliateId,
      account.accountId,
      account.currency,
      settled.status,
      period.terms,
      new Date(period.fromMs).toISOString(),
      new Date(period.toMs).toISOString(),
      books.zone.name,
      found.fromSeq,
      found.toSeq,
      formatAmount(account.last?.carriedOut ?? 0n),
      formatAmount(found.total),
      minPayout === undefined ? null : formatAmount(minPayout),
      formatAmount(settled.payable),
      JSON.stringify(taxOnDocument(account.tax, books.taxText)),
      formatAmount(settled.tax),
      formatAmount(settled.payable + settled.tax),
      formatAmount(settled.carriedOut),
      dueDay(period.terms, books.zone, period.toMs),
    ],
  });
  const id = rows[0]?.id;
  if (id === undefined) throw new Error("a statement was not inserted");
  await insertLines(tx, id, account, found);
  return id;
}

async function insertLines(
  tx: Queryable,
  id: number,
  { accountId }: PartnerAccount,
  { fromSeq, toSeq }: FoundRange,
): Promise<void> {
  await tx.query({
    name: "insert-statement-lines",
    text: `insert into statement_line (statement_id, line, kind, offer_id, event_code, of_statement_id, count, amount)
           select $1, row_number() over (order by l.line_kind in ('clawback', 'reversal'), l.line_kind in ('conversions', 'clicks') desc,
               l.line_kind, l.offer_id, l.event_code, l.of_statement_id),
             l.line_kind, l.offer_id, l.event_code, l.of_statement_id, l.count, l.amount
           from (select line_kind, offer_id, event_code, of_statement_id, sum(count) as count, sum(amount) as amount
             from statement_entries($2, $3, $4) group by line_kind, offer_id, event_code, of_statement_id) l`,
    values: [id, accountId, fromSeq, toSeq],
  });
}

async function announce(tx: Queryable, workspaceId: number, id: number): Promise<MadeStatement> {
  const row = await findStatement(tx, workspaceId, id);
  if (row === undefined) throw new Error("a statement was not found");
  const lines = await listStatementLines(tx, id);
  await queueBillingEvent(tx, workspaceId, "statement.created", {
    makeData: async () => await Promise.resolve(statementDocument({ row, lines })),
  });
  return { row, lines };
}

const DOCUMENT_LEAVES_OUT: ReadonlySet<string> = new Set([
  "workspace_id",
  "account_id",
  "from_seq",
  "to_seq",
  "period_from",
  "period_to",
  "timezone",
  "tax_amount",
  "parties",
]);

/** `data` of an event: the statement as an admin sees it. */
export function statementDocument({ row, lines }: MadeStatement): Record<string, unknown> {
  const shown = Object.entries({ ...shownStatement(row), lines });
  return Object.fromEntries(shown.filter(([field]) => !DOCUMENT_LEAVES_OUT.has(field)));
}
