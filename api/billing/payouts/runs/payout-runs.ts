import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../../schemas/postgres/quote.ts";
import { conditionsOf } from "../../../http/filter-conditions.ts";
import type { FilteredPage } from "../../../http/page.ts";
import { statementName } from "../../../http/statement-name.ts";
import type { PaymentMethod } from "../details/payment-details.ts";
import type { PayoutFormat } from "../details/payout-formats.ts";

export type RunStatus = "draft" | "approved" | "paid" | "failed" | "cancelled";
export type LineStatus = "pending" | "held" | "paid" | "failed" | "returned";

export type RunRow = {
  readonly id: number;
  readonly status: RunStatus;
  readonly currency: string;
  readonly methods: readonly string[];
  readonly format: PayoutFormat | null;
  readonly due_until: string;
  readonly execution_date: string;
  readonly created_key_id: number | null;
  readonly created_person_id: number | null;
  readonly created_at: string;
  readonly approved_at: string | null;
  readonly ended_at: string | null;
};

/** A run with sums of its lines. */
export type RunSummary = RunRow & {
  readonly total: string;
  readonly held_total: string;
  readonly line_count: number;
  readonly held_count: number;
  readonly paid_count: number;
  readonly failed_count: number;
  readonly created_by: string;
  readonly approved_by: string;
};

export type LineRow = {
  readonly id: number;
  readonly run_id: number;
  readonly reference: string;
  readonly affiliate_id: number;
  readonly affiliate_code: string;
  readonly affiliate_name: string;
  readonly method: PaymentMethod;
  readonly details: Readonly<Record<string, string>>;
  readonly currency: string;
  readonly amount: string;
  readonly statement_ids: readonly number[];
  readonly statements: readonly string[];
  readonly status: LineStatus;
  readonly reason: string | null;
  readonly until: string | null;
  readonly released_at: string | null;
  readonly release_reason: string;
  readonly external_id: string | null;
  readonly fee: string | null;
  readonly error: string;
  readonly execution_date: string;
  readonly created_at: string;
  readonly settled_at: string | null;
};

const RUN = `r.id, r.status, r.currency, r.methods, r.format, r.due_until, r.execution_date, r.created_key_id, r.created_person_id,
  r.created_at, r.approved_at, r.ended_at`;
const WHO = (column: string): string =>
  `coalesce((select name from person where id = r.${column}_person_id), (select name from api_key where id = r.${column}_key_id), '')`;
const SUMMARY = `${RUN}, s.total, s.held_total, s.line_count, s.held_count, s.paid_count, s.failed_count,
  ${WHO("created")} as created_by, ${WHO("approved")} as approved_by`;
const SUMS = `cross join lateral (select coalesce(sum(l.amount) filter (where l.status <> 'held'), 0)::numeric(18, 4) as total,
    coalesce(sum(l.amount) filter (where l.status = 'held'), 0)::numeric(18, 4) as held_total,
    count(*) filter (where l.status <> 'held') as line_count, count(*) filter (where l.status = 'held') as held_count,
    count(*) filter (where l.status = 'paid') as paid_count,
    count(*) filter (where l.status in ('failed', 'returned')) as failed_count
  from payout_line l where l.run_id = r.id) s`;
const LINE = `l.id, l.run_id, l.reference, l.affiliate_id, f.code as affiliate_code, f.name as affiliate_name, l.method, l.masked as details,
  l.currency, l.amount, s.ids as statement_ids, s.numbers as statements, l.status, l.held_reason as reason, l.held_until as until,
  l.released_at, l.release_reason, l.external_id, l.fee, l.error, l.created_at, l.settled_at`;
const OF_LINE = `join affiliate f on f.id = l.affiliate_id
  cross join lateral (select json_agg(p.statement_id order by p.statement_id) as ids,
      array_agg(coalesce(t.number, t.id::text) order by p.statement_id) as numbers
    from payout_line_statement p join statement t on t.id = p.statement_id where p.line_id = l.id) s`;

/**
 * Whoever makes, approves, cancels or settles runs of a workspace waits for the others: a statement has one way to be paid, and an external
 * id one line.
 */
export async function lockPayouts(tx: Queryable, workspaceId: number): Promise<void> {
  await tx.query({
    name: "lock-payouts",
    text: "select pg_advisory_xact_lock(hashtext('payout_run'), $1::integer)",
    values: [workspaceId],
  });
}

/** Newest first. */
export async function listRunRows(
  db: Queryable,
  workspaceId: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<RunSummary[]> {
  const conditions = conditionsOf(filters, {}, "r");
  const { rows } = await db.query<RunSummary>({
    ...statementName("list-payout-runs", filters),
    text: `select ${SUMMARY} from payout_run r ${SUMS}
           where r.workspace_id = $1 and (r.created_at, r.id) < ($2::timestamptz, $3::bigint) ${quoteConditions(conditions, 5)}
           order by r.created_at desc, r.id desc limit $4`,
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

export async function findRun(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<RunSummary | undefined> {
  const { rows } = await db.query<RunSummary>({
    name: "find-payout-run",
    text: `select ${SUMMARY} from payout_run r ${SUMS} where r.workspace_id = $1 and r.id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/** Every line of a run, of which there are at most as many as one run may have. */
export async function linesOfRun(db: Queryable, runId: number): Promise<LineRow[]> {
  const { rows } = await db.query<LineRow>({
    name: "list-lines-of-payout-run",
    text: `select ${LINE}, r.execution_date from payout_line l join payout_run r on r.id = l.run_id ${OF_LINE}
           where l.run_id = $1 order by l.id`,
    values: [runId],
  });
  return rows;
}

/** A line of the workspace. */
export async function findLine(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<LineRow | undefined> {
  const { rows } = await db.query<LineRow>({
    name: "find-payout-line",
    text: `select ${LINE}, r.execution_date from payout_line l join payout_run r on r.id = l.run_id ${OF_LINE}
           where l.workspace_id = $1 and l.id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/** What a partner was or will be paid by runs that are approved, newest first. */
export async function listOwnPayouts(
  db: Queryable,
  affiliateId: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<LineRow[]> {
  const conditions = conditionsOf(filters, {}, "l");
  const { rows } = await db.query<LineRow>({
    ...statementName("list-own-payouts", filters),
    text: `select ${LINE}, r.execution_date from payout_line l join payout_run r on r.id = l.run_id ${OF_LINE}
           where l.affiliate_id = $1 and r.status in ('approved', 'paid', 'failed') and l.status <> 'held'
             and (l.created_at, l.id) < ($2::timestamptz, $3::bigint) ${quoteConditions(conditions, 5)}
           order by l.created_at desc, l.id desc limit $4`,
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
