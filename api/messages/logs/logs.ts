import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { type Condition, quoteConditions } from "../../../schemas/postgres/quote.ts";
import type { TimeRange } from "../../../schemas/time/range.ts";
import { conditionsOf, matches } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";

export type LogPage = FilteredPage & Pick<TimeRange, "fromMs" | "toMs">;

/** Both ends of the range included. */
const IS_AFTER =
  "workspace_id = $1 and (ts, id) < ($2::timestamptz, $3::bigint) and ts between $4 and $5";

export type PostbackLogRow = {
  id: number;
  ts: string;
  endpoint: string;
  ip: string | null;
  token_owner: string;
  params: Record<string, unknown>;
  http_status: number;
  result: string;
  conversion_id: string | null;
  click_id: string | null;
  message: string;
  request_id: string | null;
};

/** Newest first, at most `rowsMax`. */
export async function listPostbackLog(
  db: Queryable,
  workspaceId: number,
  page: LogPage,
): Promise<PostbackLogRow[]> {
  const conditions = conditionsOf(page.filters);
  const { rows } = await db.query<PostbackLogRow>({
    ...statementName("list-postback-log", page.filters),
    text: `select id, ts, endpoint, host(ip) as ip, token_owner, params, http_status, result, conversion_id, click_id, message,
             request_id
           from postback_log
           where ${IS_AFTER} ${quoteConditions(conditions, 7)}
           order by ts desc, id desc limit $6`,
    values: valuesOf(workspaceId, page, conditions),
  });
  return rows;
}

/**
 * Calls about an advertiser's offers or with its token, newest first, at most `rowsMax`. Only the address of the advertiser's own server is
 * shown: any other is a visitor's or the network's.
 */
export async function listCallsOfAdvertiser(
  db: Queryable,
  { workspaceId, advertiserId }: { readonly workspaceId: number; readonly advertiserId: number },
  page: LogPage,
): Promise<PostbackLogRow[]> {
  const conditions = conditionsOf(page.filters);
  const { rows } = await db.query<PostbackLogRow>({
    ...statementName("list-calls-of-advertiser", page.filters),
    text: `select id, ts, endpoint, case when endpoint = 'pb' and token_owner = $8 then host(ip) end as ip, token_owner, params,
             http_status, result, conversion_id, click_id, message, request_id
           from postback_log
           where ${IS_AFTER} and advertiser_id = $7 ${quoteConditions(conditions, 9)}
           order by ts desc, id desc limit $6`,
    values: [
      ...rangeValues(workspaceId, page),
      advertiserId,
      `advertiser ${advertiserId}`,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

export type AuditLogRow = {
  id: number;
  ts: string;
  key_id: number | null;
  user: string;
  action: string;
  ip: string | null;
  status: number;
  request_id: string;
  person_id: number | null;
};

/** Newest first, at most `rowsMax`. */
export async function listAuditLog(
  db: Queryable,
  workspaceId: number,
  page: LogPage,
): Promise<AuditLogRow[]> {
  const conditions = conditionsOf(page.filters, { action: matches(["action"]) });
  const { rows } = await db.query<AuditLogRow>({
    ...statementName("list-audit-log", page.filters),
    text: `select id, ts, key_id, user_name as "user", action, host(ip) as ip, status, request_id, person_id
           from audit_log
           where ${IS_AFTER} ${quoteConditions(conditions, 7)}
           order by ts desc, id desc limit $6`,
    values: valuesOf(workspaceId, page, conditions),
  });
  return rows;
}

function valuesOf(workspaceId: number, page: LogPage, conditions: readonly Condition[]): unknown[] {
  return [...rangeValues(workspaceId, page), ...conditions.flatMap(({ values }) => values)];
}

function rangeValues(workspaceId: number, { after, fromMs, toMs, rowsMax }: LogPage): unknown[] {
  return [
    workspaceId,
    after?.at ?? "infinity",
    after?.id ?? 0,
    new Date(fromMs).toISOString(),
    new Date(toMs).toISOString(),
    rowsMax,
  ];
}
