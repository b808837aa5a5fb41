import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { SignedIn } from "../access/sessions.ts";
import { signInRequired } from "../http/session-admission.ts";

/*
 * What lets somebody into an account. Whoever ends ways in has locked the person (`lockPeople`), and whoever adds one waits for that lock, so
 * nothing that began before a reset is left over after it.
 */

/**
 * Ends the sessions, passkeys and connected identities of a person, and the open links that were made with the account or for it. Codes of an
 * authenticator end as well unless they are kept. The password is the caller's.
 */
export async function endWaysIn(
  tx: Queryable,
  personId: number,
  { keepsCodes }: { readonly keepsCodes: boolean },
): Promise<void> {
  await tx.query({
    name: "end-ways-in",
    text: `with sessions as (delete from session where person_id = $1),
             passkeys as (delete from passkey where person_id = $1),
             identities as (delete from oidc_identity where person_id = $1),
             codes as (delete from totp where person_id = $1 and not $2),
             recovery as (delete from recovery_code where person_id = $1 and not $2)
           update one_time_link set revoked_at = now()
           where (made_by = $1 or kind = 'reset' and person_id = $1) and used_at is null and revoked_at is null`,
    values: [personId, keepsCodes],
  });
}

/**
 * Call before a session adds a way in. Processes remember sessions for a second, so it may have ended already.
 * @throws {ApiError} `sign_in_required`
 */
export async function holdSession(
  tx: Queryable,
  { sessionId, person }: Pick<SignedIn, "sessionId" | "person">,
): Promise<void> {
  await holdPerson(tx, person.id);
  const { rows } = await tx.query({
    name: "hold-session",
    text: "select id from session where id = $1 and person_id = $2",
    values: [sessionId, person.id],
  });
  if (rows.length === 0) throw signInRequired();
}

/** Waits for whoever ends ways in, and lets nobody do so until the end of the transaction. False if the person is not active. */
export async function holdPerson(tx: Queryable, id: number): Promise<boolean> {
  const { rows } = await tx.query({
    name: "hold-person",
    text: "select id from person where id = $1 and status = 'active' for share",
    values: [id],
  });
  return rows.length > 0;
}

/** Holds somebody who has just proved a password. False if the password has changed meanwhile, or the person is not active. */
export async function holdPassword(tx: Queryable, id: number, hash: string): Promise<boolean> {
  const { rows } = await tx.query({
    name: "hold-password",
    text: "select id from person where id = $1 and status = 'active' and password_hash = $2 for share",
    values: [id, hash],
  });
  return rows.length > 0;
}
