import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Columns } from "./recognised-columns.ts";

export const SHOWN_STATUSES = [
  "checking",
  "checked",
  "applying",
  "done",
  "undoing",
  "undone",
  "stopped",
  "failed",
] as const;

export const OUTCOMES = [
  "changed",
  "unchanged",
  "unknown",
  "refused",
  "duplicate_row",
  "undone",
  "kept",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type UpdateSum = {
  readonly affiliate_id: number | null;
  readonly affiliate_name: string | null;
  readonly currency: string;
  readonly rows: number;
  readonly payout_before: string;
  readonly payout_after: string;
  readonly revenue_before: string;
  readonly revenue_after: string;
};

/** An update with the names of its answer. */
export type StoredUpdate = {
  id: number;
  name: string;
  status: (typeof SHOWN_STATUSES)[number];
  message: string;
  columns: Columns;
  offer_ids: number[];
  missing: "keep" | "reject";
  from: string | null;
  to: string | null;
  rows: number;
  rows_done: number;
  counts: Partial<Record<Outcome | "missing", number>>;
  sums: readonly Omit<UpdateSum, "affiliate_name">[];
  created_by: string;
  created_at: string;
  applied_at: string | null;
  ended_at: string | null;
};

const COLUMNS = `u.id, u.name, u.status, u.message, u.columns, u.offer_ids, u.missing, u.missing_from as "from", u.missing_to as "to",
  u.last_number as rows, case when u.status in ('checking', 'applying', 'undoing') then least(u.position, u.last_number) else u.last_number end as rows_done,
  u.counts, u.created_by, u.created_at, u.applied_at, u.ended_at`;

/** Newest first, without sums. */
export async function listUpdates(
  db: Queryable,
  workspaceId: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<StoredUpdate[]> {
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<StoredUpdate>({
    ...statementName("list-conversion-updates", filters),
    text: `select ${COLUMNS}, '[]'::jsonb as sums from conversion_update u
           where u.workspace_id = $1 and u.status <> 'reading' and (u.created_at, u.id) < ($2::timestamptz, $3::integer)
             ${quoteConditions(conditions, 5)}
           order by u.created_at desc, u.id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      Number(after?.id ?? "0"),
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

export async function findUpdate(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<StoredUpdate | undefined> {
  const { rows } = await db.query<StoredUpdate>({
    name: "find-conversion-update",
    text: `select ${COLUMNS}, u.sums from conversion_update u where u.id = $2 and u.workspace_id = $1 and u.status <> 'reading'`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/** The names of partners of a workspace. */
export async function namesOfPartners(
  db: Queryable,
  workspaceId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await db.query<{ id: number; name: string }>({
    name: "find-names-of-updated-partners",
    text: "select id, name from affiliate where workspace_id = $1 and id = any ($2::integer[])",
    values: [workspaceId, ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export type StoredUpdateRow = {
  number: number;
  is_missing: boolean;
  outcome: Outcome | null;
  conversion_id: string | null;
  fields: Readonly<Record<string, string>>;
  faults: Readonly<Record<string, string>>;
  before: State | null;
  after: State | null;
};
type State = Readonly<Record<string, string | boolean | null>>;

/** In the order of the file. */
export async function listUpdateRows(
  db: Queryable,
  id: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<StoredUpdateRow[]> {
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<StoredUpdateRow>({
    ...statementName("list-conversion-update-rows", filters),
    text: `select r.number, r.is_missing, r.outcome, r.conversion_id, r.fields, r.faults, r.before, r.after
           from conversion_update_row r
           where r.update_id = $1 and r.number > $2 ${quoteConditions(conditions, 4)}
           order by r.number limit $3`,
    values: [id, Number(after?.id ?? "0"), rowsMax, ...conditions.flatMap(({ values }) => values)],
  });
  return rows;
}
