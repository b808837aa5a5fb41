import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import type { Actor } from "../../../operation/principal.ts";
import type { LineStatus } from "../runs/payout-runs.ts";
import { idsOf } from "../runs/run-writes.ts";

export type ResultStatus = "paid" | "failed" | "returned";

/** A line as results are judged against it. */
export type SettledLine = {
  readonly id: number;
  readonly reference: string;
  readonly affiliate_id: number;
  readonly affiliate_code: string;
  readonly affiliate_name: string;
  readonly method: string;
  readonly currency: string;
  readonly amount: string;
  readonly status: LineStatus;
  readonly statement_ids: readonly number[];
  /** Results so far: `paid/<external id>`. */
  readonly results: readonly string[];
  /** The transaction that posted the payment; null if it was not paid. */
  readonly payment_id: number | null;
};

/** Lines of a run by these references, locked. */
export async function lockLines(
  tx: Queryable,
  runId: number,
  references: readonly string[],
): Promise<ReadonlyMap<string, SettledLine>> {
  await tx.query({
    name: "lock-payout-lines",
    text: "select from payout_line where run_id = $1 and reference = any($2::text[]) order by id for update",
    values: [runId, references],
  });
  const { rows } = await tx.query<SettledLine>({
    name: "read-settled-lines",
    text: `select l.id, l.reference, l.affiliate_id, f.code as affiliate_code, f.name as affiliate_name, l.method, l.currency, l.amount,
             l.status, (select json_agg(p.statement_id order by p.statement_id) from payout_line_statement p where p.line_id = l.id)
               as statement_ids,
             array(select s.status || '/' || s.external_id from payout_result s where s.line_id = l.id) as results,
             (select max(t.id) from ledger_transaction t join payout_result s on s.line_id = l.id and s.status = 'paid'
              where t.workspace_id = l.workspace_id and t.source_kind = 'payout_line'
                and t.source_id = l.id || '/paid/' || s.external_id) as payment_id
           from payout_line l join affiliate f on f.id = l.affiliate_id
           where l.run_id = $1 and l.reference = any($2::text[])`,
    values: [runId, references],
  });
  return new Map(rows.map((row) => [row.reference, row]));
}

/** The line of each of these external ids, if one has it. */
export async function linesByExternalId(
  tx: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ external_id: string; line_id: number }>({
    name: "find-lines-by-external-id",
    text: `select external_id, line_id from payout_result
           where workspace_id = $1 and external_id = any($2::text[]) and external_id <> ''`,
    values: [workspaceId, ids],
  });
  return new Map(rows.map((row) => [row.external_id, row.line_id]));
}

export type NewResult = {
  readonly line: SettledLine;
  readonly status: ResultStatus;
  readonly externalId: string;
  readonly fee: string | null;
  readonly at: string;
  readonly error: string;
};

/** Writes results of different lines: the results, their lines and the statements of the lines. */
export async function writeResults(
  tx: Queryable,
  workspaceId: number,
  results: readonly NewResult[],
  actor: Actor,
): Promise<void> {
  const given = JSON.stringify(
    results.map(({ line, externalId, ...more }) => ({
      ...more,
      line_id: line.id,
      amount: line.amount,
      external_id: externalId,
    })),
  );
  await tx.query({
    name: "write-payout-results",
    text: `with given as (
             select line_id, status, external_id, amount, fee, at, error
             from jsonb_to_recordset($2) as g(line_id bigint, status text, external_id text, amount numeric, fee numeric, at timestamptz,
               error text)
           ), noted as (
             insert into payout_result (line_id, workspace_id, status, external_id, amount, fee, at, error, key_id, person_id)
             select line_id, $1, status, external_id, amount, fee, at, error, $3, $4 from given
           ), settled as (
             update payout_line l
             set status = g.status, external_id = coalesce(l.external_id, nullif(g.external_id, '')), fee = coalesce(g.fee, l.fee),
               error = g.error, settled_at = g.at
             from given g where l.id = g.line_id
           ), freed as (
             update payout_line_statement p set is_current = false from given g where p.line_id = g.line_id and g.status <> 'paid'
           )
           update statement t
           set status = case when g.status = 'paid' then 'paid' else 'approved' end,
             paid_at = case when g.status = 'paid' then g.at end
           from given g join payout_line_statement p on p.line_id = g.line_id and p.is_current
           where t.id = p.statement_id and t.status in ('in_payout', 'paid')`,
    values: [workspaceId, given, ...idsOf(actor)],
  });
}

/** The state of a run after results: it is open while a line waits, `paid` if any line is, else `failed`. */
export async function settleRun(tx: Queryable, runId: number): Promise<void> {
  await tx.query({
    name: "settle-payout-run",
    text: `update payout_run r set status = s.status,
             ended_at = case when s.status = 'approved' then null else coalesce(r.ended_at, clock_timestamp()) end
           from (select case when bool_or(status = 'pending') then 'approved' when bool_or(status = 'paid') then 'paid' else 'failed' end
               as status from payout_line where run_id = $1 and status <> 'held') s
           where r.id = $1 and r.status <> s.status`,
    values: [runId],
  });
}
