import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";

export type AuditEntry = {
  /** The command line has no key. */
  readonly principal: {
    readonly keyId: number | null;
    readonly keyName: string;
    readonly workspace: { readonly id: number };
  };
  /** `rest POST /offers`, `mcp:<tool>` (G177) or `cli <command>`. */
  readonly action: string;
  /** Empty if the client reset its connection before its address was read. */
  readonly ip: string | null;
  readonly status: number;
  readonly requestId: string;
};

/**
 * Records a request, including refused ones. Never rejects: the request itself is finished, so the caller gets its result, and
 * the log reports the missing entry.
 */
export async function noteInAuditLog(
  { db, log }: { readonly db: Queryable; readonly log: Log },
  entry: AuditEntry,
): Promise<void> {
  try {
    await insertAuditEntry(db, entry);
  } catch (error) {
    log.error({ err: error, request_id: entry.requestId }, "audit.not-written");
  }
}

/** Records a write, a command or an MCP call. Returns the id of the entry; later entries have higher ones. */
export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-audit-entry",
    text: `insert into audit_log (workspace_id, key_id, user_name, action, ip, status, request_id)
           values ($1, $2, $3, $4, nullif($5, '')::inet, $6, $7) returning id`,
    values: [
      entry.principal.workspace.id,
      entry.principal.keyId,
      entry.principal.keyName,
      entry.action,
      entry.ip,
      entry.status,
      entry.requestId,
    ],
  });
  return rows[0]?.id ?? 0;
}
