import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Actor } from "../operation/principal.ts";

export type AuditEntry = {
  readonly principal: {
    /** The command line and somebody who signs up are neither a key nor a person. */
    readonly actor: Actor | { readonly kind: "command line" | "applicant"; readonly name: string };
    /** 0 if it belongs to no workspace. */
    readonly workspace: { readonly id: number };
  };
  /** `rest POST /offers`, `mcp:<tool>` (G177) or `cli <command>`. Rows of people/person-audit.ts have `person:<verb>`. */
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
  const { actor, workspace } = entry.principal;
  const { rows } = await db.query<{ id: number }>({
    name: "insert-audit-entry",
    text: `insert into audit_log (workspace_id, key_id, user_name, action, ip, status, request_id, person_id)
           values ($1, $2, $3, $4, nullif($5, '')::inet, $6, $7, $8) returning id`,
    values: [
      workspace.id,
      actor.kind === "key" ? actor.id : null,
      actor.name,
      entry.action,
      entry.ip,
      entry.status,
      entry.requestId,
      actor.kind === "person" ? actor.id : null,
    ],
  });
  return rows[0]?.id ?? 0;
}
