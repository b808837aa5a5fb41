import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** `recent`: the last days, once an hour. `all`: every day that has records, once a night. */
export type AuditScope = "recent" | "all";

/** The last span of a table that was compared; the audit continues after it. */
const Position = z.object({ table: z.string(), workspaceId: z.int(), fromMs: z.number() });
export type AuditPosition = z.infer<typeof Position>;

export type AuditState = {
  readonly run: number;
  readonly isFinished: boolean;
  readonly position: AuditPosition | undefined;
  /** Differences found in this run. */
  readonly found: number;
  /** Time since the last run finished; Infinity if none has. */
  readonly sinceFinishedMs: number;
  /** Whether the UTC day has changed since it began. */
  readonly isOfEarlierDay: boolean;
};

const State = z.object({
  run: z.number(),
  isFinished: z.boolean(),
  position: Position.nullable().transform((position) => position ?? undefined),
  found: z.number(),
  sinceFinishedMs: z
    .number()
    .nullable()
    .transform((ms) => ms ?? Number.POSITIVE_INFINITY),
  isOfEarlierDay: z.boolean(),
});
const COLUMNS = `run, run = finished_run as "isFinished", position, found,
  case when finished_at > '-infinity' then (extract(epoch from clock_timestamp() - finished_at) * 1000)::bigint end
    as "sinceFinishedMs",
  date_trunc('day', begun_at at time zone 'UTC') < date_trunc('day', clock_timestamp() at time zone 'UTC') as "isOfEarlierDay"`;

/** All times are by the clock of Postgres. */
export async function readAudit(db: Queryable, scope: AuditScope): Promise<AuditState> {
  const { rows } = await db.query({
    name: "read-fact-audit",
    text: `select ${COLUMNS} from fact_audit where scope = $1`,
    values: [scope],
  });
  return State.parse(rows[0]);
}

/** Starts a new run from the first span, even if the previous run has not finished. */
export async function beginAudit(db: Queryable, scope: AuditScope): Promise<AuditState> {
  const { rows } = await db.query({
    name: "begin-fact-audit",
    text: `update fact_audit set run = run + 1, begun_at = clock_timestamp(), position = null, found = 0 where scope = $1
           returning ${COLUMNS}`,
    values: [scope],
  });
  return State.parse(rows[0]);
}

/** Stores that a span was compared, unless a new run has started since. `found`: differences in the span. */
export async function noteProgress(
  db: Queryable,
  { scope, run }: { readonly scope: AuditScope; readonly run: number },
  position: AuditPosition,
  found: number,
): Promise<void> {
  await db.query({
    name: "note-fact-audit",
    text: "update fact_audit set position = $3, found = found + $4 where scope = $1 and run = $2",
    values: [scope, run, JSON.stringify(position), found],
  });
}

export async function finishAudit(
  db: Queryable,
  { scope, run }: { readonly scope: AuditScope; readonly run: number },
): Promise<void> {
  await db.query({
    name: "finish-fact-audit",
    text: `update fact_audit set finished_run = run, finished_at = clock_timestamp(), position = null
           where scope = $1 and run = $2`,
    values: [scope, run],
  });
}
