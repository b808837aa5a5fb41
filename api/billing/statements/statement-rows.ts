import {
  STATEMENT_COLUMNS,
  STATEMENT_SOURCE,
  type StatementLine,
  type StatementRow,
} from "../../../schemas/billing/statements.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { type Condition, quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf, type Filter } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";

const SPECIAL: Readonly<Record<string, Filter>> = {
  due_until: (day) => ({ text: (first) => `s.due_on <= $${first}::date`, values: [day] }),
  // Days of the workspace, which a period ends on.
  from: (at) => ({ text: (first) => `s.period_to > $${first}::timestamptz`, values: [at] }),
  to: (at) => ({ text: (first) => `s.period_to <= $${first}::timestamptz`, values: [at] }),
};

/** Newest first, at most `rowsMax`. */
export async function listStatementRows(
  db: Queryable,
  workspaceId: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<StatementRow[]> {
  const conditions = conditionsOf(filters, SPECIAL, "s");
  const { rows } = await db.query<StatementRow>({
    ...statementName("list-statements", filters),
    text: `select ${STATEMENT_COLUMNS} from ${STATEMENT_SOURCE}
           where s.workspace_id = $1 and (s.created_at, s.id) < ($2::timestamptz, $3::bigint)
             ${quoteConditions(conditions, 5)}
           order by s.created_at desc, s.id desc limit $4`,
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

/** Those that a partner sees of its own. */
export async function listOwnStatementRows(
  db: Queryable,
  affiliateId: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<StatementRow[]> {
  const conditions = conditionsOf(filters, SPECIAL, "s");
  const { rows } = await db.query<StatementRow>({
    ...statementName("list-own-statements", filters),
    text: `select ${STATEMENT_COLUMNS} from ${STATEMENT_SOURCE}
           where s.affiliate_id = $1 and s.status in ('approved', 'in_payout', 'paid')
             and (s.created_at, s.id) < ($2::timestamptz, $3::bigint) ${quoteConditions(conditions, 5)}
           order by s.created_at desc, s.id desc limit $4`,
    values: [
      affiliateId,
      after?.at ?? "infinity",
      after?.id ?? "0",
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** One fact behind a line. */
export type StatementEntry = { readonly seq: number; readonly [field: string]: unknown };

type EntriesPage = {
  /** Entries before this one, in the order of the account. */
  readonly before: number | undefined;
  readonly rowsMax: number;
  /** Shows the reasons of adjustments that are not visible. */
  readonly isStaff: boolean;
  /** All lines without one. */
  readonly line?: StatementLine;
};

const SEQ_MAX = Number.MAX_SAFE_INTEGER;

/** The entries of a statement, or of one of its lines, newest first. */
export async function listStatementEntries(
  db: Queryable,
  statement: Pick<StatementRow, "account_id" | "from_seq" | "to_seq">,
  { before = SEQ_MAX, rowsMax, isStaff, line }: EntriesPage,
): Promise<StatementEntry[]> {
  const conditions = line === undefined ? [] : [ofLine(line)];
  const { rows } = await db.query<StatementEntry>({
    name: line === undefined ? "list-statement-entries" : "list-statement-entries-of-line",
    text: `select e.seq, e.posted_at, e.line_kind as kind, e.conversion_id, c.click_id, c.adv_txid, e.offer_id,
             coalesce(o.name, '') as offer_name, e.event_code, c.conv_ts, e.count, e.amount,
             case when a.visible or $6 then coalesce(a.reason, '') else '' end as reason
           from (select e.seq, e.posted_at, e.line_kind, e.conversion_id, e.offer_id, e.event_code, e.count, e.amount, e.transaction_id
             from statement_entries($1, $2, $3) e where e.seq < $4 ${quoteConditions(conditions, 7)} order by e.seq desc limit $5) e
           left join lateral (
             select c.click_id, c.adv_txid, c.conv_ts from conversion c where c.id = e.conversion_id limit 1) c on true
           left join lateral (select o.name from offer o where o.id = e.offer_id limit 1) o on true
           left join lateral (
             select a.reason, a.visible from ledger_transaction t
             join adjustment a on a.id = case when t.source_id ~ '^[0-9]{1,18}$' then t.source_id::bigint end
             where t.id = e.transaction_id and t.source_kind = 'adjustment' limit 1) a on true
           order by e.seq desc`,
    values: [
      statement.account_id,
      statement.from_seq,
      statement.to_seq,
      before,
      rowsMax,
      isStaff,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** In `coalesce`, so that the planner expects many entries to pass and walks the index in the order of the page. */
function ofLine(line: StatementLine): Condition {
  return {
    text: (first) =>
      `coalesce((e.line_kind, e.offer_id, e.event_code, e.of_statement_id)
         is not distinct from ($${first}::text, $${first + 1}::integer, $${first + 2}::text, $${first + 3}::bigint), false)`,
    values: [line.kind, line.offer_id, line.event_code, line.of_statement_id],
  };
}
