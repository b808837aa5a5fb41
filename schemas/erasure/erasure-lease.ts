import { randomUUID } from "node:crypto";
import { clearInterval, setInterval } from "node:timers";
import type { Queryable } from "../postgres/connect.ts";

/** A killed process holds others up for at most this long. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;

/**
 * Runs `work` while no other erasure runs in the installation; returns "busy" if one does. The lease is a row, so it needs no session: it
 * works through PgBouncer, and it expires when its process dies. It only limits load. Two erasures at once do no harm, for example after
 * a pause longer than the lease. A lease that ends more than a minute later than possible came from a clock that was ahead, and is
 * ignored. The minute is a margin, because stored times are rounded up.
 */
export async function withErasureLease<T>(
  db: Queryable,
  work: () => Promise<T>,
): Promise<T | "busy"> {
  const token = randomUUID();
  if (!(await extend(db, "take-erasure-lease", token))) return "busy";
  const renewal = setInterval(() => {
    // If a renewal fails, the lease expires, and `work` has the same error.
    void extend(db, "renew-erasure-lease", token).catch(() => false);
  }, RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await release(db, token);
  }
}

async function extend(
  db: Queryable,
  name: "take-erasure-lease" | "renew-erasure-lease",
  token: string,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name,
    text:
      name === "take-erasure-lease"
        ? `update erasure_lease set token = $1::uuid, expires_at = clock_timestamp() + $2 * interval '1 second'
           where expires_at < clock_timestamp() or expires_at > clock_timestamp() + $2 * interval '1 second' + interval '1 minute'`
        : `update erasure_lease set expires_at = clock_timestamp() + $2 * interval '1 second' where token = $1::uuid`,
    values: [token, LEASE_SECONDS],
  });
  return rowCount === 1;
}

/** Ignores errors: the lease expires anyway. */
async function release(db: Queryable, token: string): Promise<void> {
  await db
    .query({
      name: "release-erasure-lease",
      text: "update erasure_lease set token = null, expires_at = '-infinity' where token = $1::uuid",
      values: [token],
    })
    .catch(() => undefined);
}
