import type { Queryable } from "../postgres/connect.ts";

/** A statement as it is stored, with the names that an answer shows beside the ids. */
export type StatementRow = {
  readonly id: number;
  readonly workspace_id: number;
  readonly number: string | null;
  readonly affiliate_id: number;
  readonly affiliate_name: string;
  readonly account_id: number;
  readonly currency: string;
  readonly status: "draft" | "approved" | "in_payout" | "paid" | "carried" | "void";
  readonly terms: string;
  readonly period_from: string;
  readonly period_to: string;
  readonly timezone: string;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly carried_in: string;
  readonly total: string;
  readonly min_payout: string | null;
  readonly payable: string;
  readonly tax: { readonly mode: string; readonly rate: string; readonly text: string };
  readonly tax_amount: string;
  readonly gross: string;
  readonly carried_out: string;
  readonly due_on: string;
  readonly payout_line_id: number | null;
  readonly parties: StatementParties | null;
  readonly created_at: string;
  readonly approved_at: string | null;
  readonly paid_at: string | null;
  readonly voided_at: string | null;
};

/** Both sides as they were at approval, so that the document never changes. */
export type StatementParties = {
  readonly issuer: Readonly<Record<string, string>>;
  readonly recipient: Readonly<Record<string, string>>;
  readonly language: string;
};

export type StatementLine = {
  readonly line: number;
  readonly kind: string;
  readonly offer_id: number | null;
  readonly offer_name: string;
  readonly event_code: string | null;
  /** Of a clawback: the statement that has what is taken back. */
  readonly of_statement_id: number | null;
  readonly of_statement_number: string | null;
  readonly count: number;
  readonly amount: string;
};

/** Columns of a {@link StatementRow}, for a statement that reads {@link STATEMENT_SOURCE}. */
export const STATEMENT_COLUMNS = `s.id, s.workspace_id, s.number, s.affiliate_id, f.name as affiliate_name, s.account_id, s.currency, s.status,
  s.terms, s.period_from, s.period_to, s.timezone, s.from_seq, s.to_seq, s.carried_in, s.total, s.min_payout, s.payable, s.tax,
  s.tax_amount, s.gross, s.carried_out, s.due_on, s.parties, s.created_at, s.approved_at, s.paid_at, s.voided_at,
  (select p.line_id from payout_line_statement p where p.statement_id = s.id and p.is_current) as payout_line_id`;
export const STATEMENT_SOURCE = "statement s join affiliate f on f.id = s.affiliate_id";

export async function findStatement(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<StatementRow | undefined> {
  const { rows } = await db.query<StatementRow>({
    name: "find-statement",
    text: `select ${STATEMENT_COLUMNS} from ${STATEMENT_SOURCE} where s.workspace_id = $1 and s.id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/** All lines. There are at most as many as the offers and events of a partner. */
export async function listStatementLines(
  db: Queryable,
  statementId: number,
): Promise<StatementLine[]> {
  const { rows } = await db.query<StatementLine>({
    name: "list-statement-lines",
    text: `select l.line, l.kind, l.offer_id, coalesce(o.name, '') as offer_name, l.event_code, l.of_statement_id,
             p.number as of_statement_number, l.count, l.amount
           from statement_line l left join offer o on o.id = l.offer_id left join statement p on p.id = l.of_statement_id
           where l.statement_id = $1 order by l.line`,
    values: [statementId],
  });
  return rows;
}

/** The formats of a statement's document. */
export const STATEMENT_FORMATS = ["html", "pdf", "csv"] as const;

/**
 * The statement as an admin sees it, which is also what webhooks send. `below` is the path under which its files are; a statement without a number
 * has none.
 */
export function shownStatement(
  row: StatementRow,
  below = "/statements",
): Readonly<Record<string, unknown>> {
  const { period_from: from, period_to: to, timezone: tz, tax, tax_amount: amount } = row;
  const files = Object.fromEntries(
    STATEMENT_FORMATS.map((format) => [format, `${below}/${row.id}/files/${format}`]),
  );
  return {
    ...row,
    period: { from, to, tz },
    tax: { mode: tax.mode, rate: tax.rate, amount, text: tax.text },
    files: row.number === null ? null : files,
  };
}
