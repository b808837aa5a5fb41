import type { Queryable } from "../../schemas/postgres/connect.ts";
import { likePattern } from "../rest/codes.ts";
import type { Position } from "../rest/cursor.ts";
import { statementName } from "../rest/statement-name.ts";

type LogPage = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly after: Position | undefined;
  readonly rowsMax: number;
};

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
};

/** Newest first, at most `rowsMax`, both ends of the range included. */
export async function listPostbackLog(
  db: Queryable,
  workspaceId: number,
  page: LogPage & {
    readonly result: string | undefined;
    readonly clickId: string | undefined;
    readonly conversionId: string | undefined;
  },
): Promise<PostbackLogRow[]> {
  const { result, clickId, conversionId } = page;
  const { rows } = await db.query<PostbackLogRow>({
    ...statementName("list-postback-log", { result, clickId, conversionId }),
    text: `select id, ts, endpoint, host(ip) as ip, token_owner, params, http_status, result, conversion_id, click_id, message
           from postback_log
           where workspace_id = $1 and (ts, id) < ($2::timestamptz, $3::bigint) and ts between $4 and $5
             and ($6::text is null or result = $6) and ($7::text is null or click_id = $7)
             and ($8::uuid is null or conversion_id = $8)
           order by ts desc, id desc limit $9`,
    values: [...positionValues(workspaceId, page), result, clickId, conversionId, page.rowsMax],
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
};

/** Newest first, at most `rowsMax`, both ends of the range included. */
export async function listAuditLog(
  db: Queryable,
  workspaceId: number,
  page: LogPage & { readonly keyId: number | undefined; readonly action: string | undefined },
): Promise<AuditLogRow[]> {
  const { keyId, action } = page;
  const { rows } = await db.query<AuditLogRow>({
    ...statementName("list-audit-log", { keyId, action }),
    text: `select id, ts, key_id, user_name as "user", action, host(ip) as ip, status, request_id
           from audit_log
           where workspace_id = $1 and (ts, id) < ($2::timestamptz, $3::bigint) and ts between $4 and $5
             and ($6::integer is null or key_id = $6) and ($7::text is null or action ilike $7)
           order by ts desc, id desc limit $8`,
    values: [
      ...positionValues(workspaceId, page),
      keyId,
      action === undefined ? null : likePattern(action),
      page.rowsMax,
    ],
  });
  return rows;
}

function positionValues(workspaceId: number, { after, fromMs, toMs }: LogPage): unknown[] {
  return [
    workspaceId,
    after?.at ?? "infinity",
    after?.id ?? 0,
    new Date(fromMs).toISOString(),
    new Date(toMs).toISOString(),
  ];
}
