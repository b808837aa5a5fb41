import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { VisitorContext } from "./people-context.ts";

/** What happened to a person, as it stands in the audit log. */
export type PersonEvent =
  | "signed-in"
  | "sign-in-failed"
  | "second-factor-failed"
  | "signed-out"
  | "session-ended"
  | "joined"
  | "reset"
  | "replaced"
  | "password-changed"
  | "totp-added"
  | "totp-removed"
  | "recovery-codes-made"
  | "recovery-code-used"
  | "passkey-added"
  | "passkey-removed"
  | "oidc-connected"
  | "oidc-removed"
  | "reset-asked";

type Noted = Pick<VisitorContext, "clientIp" | "requestId">;

/**
 * Writes `person:<event>` into the audit log of each workspace of the person, so that its admins see who signs in; without a membership,
 * for no workspace.
 */
export async function noteInPersonLog(
  db: Queryable,
  { clientIp, requestId }: Noted,
  { personId, event, status = 200 }: { personId: number; event: PersonEvent; status?: number },
): Promise<void> {
  await db.query({
    name: "note-in-person-log",
    text: `insert into audit_log (workspace_id, person_id, user_name, action, ip, status, request_id)
           select coalesce(w.workspace_id, 0), p.id, p.name, 'person:' || $2, nullif($3, '')::inet, $4, $5
           from person p
           left join (select distinct person_id, workspace_id from membership where status = 'active') w on w.person_id = p.id
           where p.id = $1`,
    values: [personId, event, clientIp, status, requestId],
  });
}

/** Does not delay the answer, whose time would tell whether the person exists. */
export function noteLater(
  { db, log, ...request }: Pick<VisitorContext, "db" | "log"> & Noted,
  noted: { personId: number; event: PersonEvent; status?: number },
): void {
  noteInPersonLog(db, request, noted).catch((error: unknown) => {
    log.error({ err: error, personId: noted.personId }, "audit.not-written");
  });
}
