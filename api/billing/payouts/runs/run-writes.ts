import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import type { Actor } from "../../../operation/principal.ts";
import type { PayoutFormat } from "../details/payout-formats.ts";
import type { Hold } from "./held-reasons.ts";
import type { RunStatus } from "./payout-runs.ts";

/** The statements of a partner that a run would pay. */
export type DuePartner = {
  readonly affiliate_id: number;
  readonly amount: string;
  readonly statement_ids: readonly number[];
};

export type NewRun = {
  readonly currency: string;
  /** Empty: every method. */
  readonly methods: readonly string[];
  readonly affiliateIds: readonly number[] | undefined;
  readonly format: PayoutFormat | null;
  readonly dueUntil: string;
  readonly executionDate: string;
};

export type NewLine = DuePartner & {
  readonly method: string;
  readonly masked: Readonly<Record<string, string>>;
  readonly hold: Hold | undefined;
};

/**
 * Partners with approved statements that are due and in no run, at most `partnersMax`. A partner with the method `other` and no details has
 * chosen no method yet: every run shows it, so that nobody forgets it.
 */
export async function findDuePartners(
  db: Queryable,
  workspaceId: number,
  { currency, methods, affiliateIds, dueUntil }: NewRun,
  partnersMax: number,
): Promise<DuePartner[]> {
  const { rows } = await db.query<DuePartner>({
    name: "find-due-partners",
    text: `select t.affiliate_id, sum(t.gross) as amount, json_agg(t.id order by t.id) as statement_ids
           from statement t join affiliate f on f.id = t.affiliate_id
           where t.workspace_id = $1 and t.currency = $2 and t.status = 'approved' and t.due_on <= $3::date and t.gross > 0
             and (cardinality($4::text[]) = 0 or f.payment_method = any($4::text[])
               or (f.payment_method = 'other' and f.payment_details is null))
             and ($5::integer[] is null or t.affiliate_id = any($5::integer[]))
             and not exists (select from payout_line_statement p where p.statement_id = t.id and p.is_current)
           group by t.affiliate_id order by min(t.due_on), t.affiliate_id limit $6`,
    values: [workspaceId, currency, dueUntil, methods, affiliateIds ?? null, partnersMax],
  });
  return rows;
}

export async function insertRun(
  tx: Queryable,
  workspaceId: number,
  run: NewRun,
  actor: Actor,
): Promise<number> {
  const { rows } = await tx.query<{ id: number }>({
    name: "insert-payout-run",
    text: `insert into payout_run (workspace_id, status, currency, methods, format, due_until, execution_date, created_key_id,
             created_person_id)
           values ($1, 'draft', $2, $3, $4, $5, $6, $7, $8) returning id`,
    values: [
      workspaceId,
      run.currency,
      run.methods,
      run.format,
      run.dueUntil,
      run.executionDate,
      ...idsOf(actor),
    ],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("an insert returned no run");
  return row.id;
}

/** The unique index refuses a statement that another run has. */
export async function insertLines(
  tx: Queryable,
  run: { readonly id: number; readonly workspaceId: number; readonly currency: string },
  lines: readonly NewLine[],
): Promise<void> {
  await tx.query({
    name: "insert-payout-lines",
    text: `with given as (
             select affiliate_id, amount, statement_ids, method, masked, reason, until, place
             from jsonb_to_recordset($4) as g(affiliate_id integer, amount numeric, statement_ids bigint[], method text, masked jsonb,
               reason text, until timestamptz, place integer)
           ), added as (
             insert into payout_line (run_id, workspace_id, affiliate_id, method, currency, amount, status, held_reason, held_until, masked)
             select $1, $2, affiliate_id, method, $3, amount, case when reason is null then 'pending' else 'held' end, reason, until, masked
             from given order by place
             returning id, affiliate_id
           )
           insert into payout_line_statement (line_id, statement_id, amount)
           select a.id, t.id, t.gross
           from added a join given g on g.affiliate_id = a.affiliate_id join statement t on t.id = any(g.statement_ids)
           order by t.id`,
    values: [
      run.id,
      run.workspaceId,
      run.currency,
      JSON.stringify(
        lines.map(({ hold, ...line }, place) => ({
          ...line,
          reason: hold?.reason,
          until: hold?.until,
          place,
        })),
      ),
    ],
  });
}

export type JudgedLine = {
  readonly id: number;
  readonly hold: Hold | undefined;
  readonly masked: Readonly<Record<string, string>>;
  /** In base64; undefined for a held line. */
  readonly sealed: string | undefined;
};

/** Freezes what each line pays to; held lines leave the run. Answers how many statements go on. */
export async function approveLines(
  tx: Queryable,
  runId: number,
  lines: readonly JudgedLine[],
): Promise<void> {
  await tx.query({
    name: "approve-payout-lines",
    text: `update payout_line l
           set status = case when g.reason is null then 'pending' else 'held' end, held_reason = g.reason, held_until = g.until,
             masked = g.masked, details = decode(g.sealed, 'base64')
           from jsonb_to_recordset($2) as g(id bigint, reason text, until timestamptz, masked jsonb, sealed text)
           where l.id = g.id and l.run_id = $1`,
    values: [
      runId,
      JSON.stringify(
        lines.map(({ hold, ...line }) => ({ ...line, reason: hold?.reason, until: hold?.until })),
      ),
    ],
  });
  await freeStatements(tx, runId, "held");
}

/** Ends the claim of lines on their statements, which are `approved` again and free for the next run. */
export async function freeStatements(
  tx: Queryable,
  runId: number,
  which: "held" | "all",
): Promise<void> {
  await tx.query({
    name: "free-statements-of-payout-run",
    text: `with freed as (
             update payout_line_statement p set is_current = false from payout_line l
             where p.line_id = l.id and p.is_current and l.run_id = $1 and ($2 or l.status = 'held')
             returning p.statement_id
           )
           update statement t set status = 'approved' from freed where t.id = freed.statement_id and t.status = 'in_payout'`,
    values: [runId, which === "all"],
  });
}

/** Marks the statements of the lines that will be paid. Answers how many were not `approved` any more. */
export async function markInPayout(tx: Queryable, runId: number): Promise<number> {
  const { rows } = await tx.query<{ missing: number }>({
    name: "mark-statements-in-payout",
    text: `with claimed as (
             select p.statement_id from payout_line_statement p join payout_line l on l.id = p.line_id
             where l.run_id = $1 and l.status = 'pending' and p.is_current
           ), marked as (
             update statement t set status = 'in_payout' from claimed c where t.id = c.statement_id and t.status = 'approved'
             returning t.id
           )
           select (select count(*) from claimed) - (select count(*) from marked) as missing`,
    values: [runId],
  });
  return rows[0]?.missing ?? 0;
}

/** Sets the state of a run; `actor` is whoever approved it. */
export async function setRunStatus(
  tx: Queryable,
  runId: number,
  status: RunStatus,
  actor?: Actor,
): Promise<void> {
  await tx.query({
    name: "set-payout-run-status",
    text: `update payout_run
           set status = $2, approved_at = case when $3 then clock_timestamp() else approved_at end,
             approved_key_id = case when $3 then $4 else approved_key_id end,
             approved_person_id = case when $3 then $5 else approved_person_id end,
             ended_at = case when $2 in ('paid', 'failed', 'cancelled') then coalesce(ended_at, clock_timestamp()) end
           where id = $1`,
    values: [
      runId,
      status,
      actor !== undefined,
      ...(actor === undefined ? [null, null] : idsOf(actor)),
    ],
  });
}

export async function releaseHeldLine(
  tx: Queryable,
  line: { readonly id: number; readonly reason: string },
  actor: Actor,
): Promise<void> {
  await tx.query({
    name: "release-payout-line",
    text: `update payout_line set status = 'pending', held_reason = null, held_until = null, released_at = clock_timestamp(),
             release_reason = $2, released_key_id = $3, released_person_id = $4
           where id = $1 and status = 'held'`,
    values: [line.id, line.reason, ...idsOf(actor)],
  });
}

/** The key and the person of an actor, for two columns. */
export function idsOf(actor: Actor): readonly [number | null, number | null] {
  return actor.kind === "key" ? [actor.id, null] : [null, actor.id];
}
