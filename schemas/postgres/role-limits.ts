import type { Queryable } from "./connect.ts";
import { postgresCode } from "./errors.ts";

/** The limits of `CONNECTION_LIMITS`, for connections that get none at their start because PgBouncer drops what they ask for. */
const SET_LIMITS = `
  alter role current_user set statement_timeout = '10s';
  alter role current_user set lock_timeout = '2s';
  alter role current_user set idle_in_transaction_session_timeout = '5s'`;

const MISSING_LIMITS = `
  select count(*) as missing
  from unnest(array['statement_timeout=10s', 'lock_timeout=2s', 'idle_in_transaction_session_timeout=5s']) as wanted
  where not exists (
    select from pg_db_role_setting
    where setdatabase = 0 and setrole = current_user::regrole and wanted = any(setconfig))`;

const NOT_ALLOWED = "42501";

/** Sets the time limits of our role. Returns false where the role may not change itself. Safe to run twice. */
export async function setRoleLimits(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ missing: number }>({ text: MISSING_LIMITS });
  if (rows[0]?.missing === 0) return true;
  try {
    await db.query({ text: SET_LIMITS });
    return true;
  } catch (error) {
    if (postgresCode(error) === NOT_ALLOWED) return false;
    throw error;
  }
}
