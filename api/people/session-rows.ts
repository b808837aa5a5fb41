import type { Queryable } from "../../schemas/postgres/connect.ts";
import { hashOfToken } from "../access/session-tokens.ts";
import { IDLE_HOURS } from "../access/sessions.ts";

const LIFE_DAYS = 14;
/** Sessions of one person; the oldest end first. */
const SESSIONS_MAX = 50;
const PURGED_ROWS_MAX = 10_000;

export type NewSession = {
  readonly personId: number;
  readonly token: string;
  readonly state: "second_factor" | "full";
  readonly ip: string;
  readonly userAgent: string;
};

/** Starts a session. Returns its id. */
export async function insertSession(db: Queryable, session: NewSession): Promise<string> {
  const { rows } = await db.query<{ id: string }>({
    name: "insert-session",
    text: `with crowded as (
             delete from session where id in (
               select id from session where person_id = $1 order by last_seen_at desc, id desc offset $7))
           insert into session (person_id, secret_hash, state, expires_at, ip, user_agent)
           values ($1, $2, $3, now() + make_interval(days => $6), nullif($4, '')::inet, $5) returning id`,
    values: [
      session.personId,
      hashOfToken(session.token),
      session.state,
      session.ip,
      session.userAgent,
      LIFE_DAYS,
      SESSIONS_MAX - 1,
    ],
  });
  return rows[0]?.id ?? "";
}

/** Gives a session another secret, after a proof of a factor. False if it has ended meanwhile. */
export async function renewSession(db: Queryable, id: string, token: string): Promise<boolean> {
  const { rows } = await db.query({
    name: "renew-session",
    text: `update session set secret_hash = $2, state = 'full', proved_at = now(), last_seen_at = now()
           where id = $1 returning id`,
    values: [id, hashOfToken(token)],
  });
  return rows.length > 0;
}

/** The person of the session has proved a factor now. */
export async function noteProof(db: Queryable, id: string): Promise<void> {
  await db.query({
    name: "note-proof",
    text: "update session set proved_at = now() where id = $1",
    values: [id],
  });
}

export type SessionRow = {
  id: string;
  state: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  ip: string | null;
  user_agent: string;
};

/** The sessions of a person that have not ended, newest first. */
export async function listSessions(db: Queryable, personId: number): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>({
    name: "list-sessions",
    text: `select id, state, created_at, last_seen_at, expires_at, host(ip) as ip, user_agent from session
           where person_id = $1 and expires_at > now() and last_seen_at > now() - make_interval(hours => $2)
           order by created_at desc, id desc limit $3`,
    values: [personId, IDLE_HOURS, SESSIONS_MAX],
  });
  return rows;
}

/** Ends one session of a person. False if the person has no such session. */
export async function deleteSession(db: Queryable, personId: number, id: string): Promise<boolean> {
  const { rows } = await db.query({
    name: "delete-session",
    text: "delete from session where person_id = $1 and id = $2 returning id",
    values: [personId, id],
  });
  return rows.length > 0;
}

/** Ends the session that a browser had before it signed in again. */
export async function deleteSessionOf(db: Queryable, token: string): Promise<void> {
  await db.query({
    name: "delete-session-of-token",
    text: "delete from session where secret_hash = $1",
    values: [hashOfToken(token)],
  });
}

/** Ends all sessions of a person but one. */
export async function deleteOtherSessions(
  db: Queryable,
  personId: number,
  keptId: string | null,
): Promise<void> {
  await db.query({
    name: "delete-other-sessions",
    text: "delete from session where person_id = $1 and ($2::uuid is null or id <> $2)",
    values: [personId, keptId],
  });
}

/** Deletes what has ended: sessions, challenges, counts of attempts. Called from time to time. */
export async function purgeSignIns(db: Queryable): Promise<void> {
  await db.query({
    name: "purge-sign-ins",
    text: `with sessions as (
             delete from session where id in (select id from session where expires_at < now() limit $1)),
           challenges as (
             delete from challenge where id in (select id from challenge where expires_at < now() limit $1 for update skip locked))
           delete from sign_in_throttle where holder in (
             select holder from sign_in_throttle where counted_until < now() and blocked_until < now()
             limit $1 for update skip locked)`,
    values: [PURGED_ROWS_MAX],
  });
}
