import { randomUUID } from "node:crypto";
import { clearInterval, setInterval } from "node:timers";
import type { Queryable } from "../postgres/connect.ts";

/** A process that was killed holds others up for this long at most. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;

/**
 * Runs `work` while no other erasure runs in the installation; "busy" when one does. The lease is a row, so it needs no session: it
 * works through PgBouncer, and a process that dies leaves it to run out. It only bounds the load: two erasures at once, as after a
 * pause longer than the lease, do no harm. A lease that is a minute longer than it can be is of a clock that was ahead;
 * stored times are rounded up, so that without the minute a lease of this moment would look longer, too.
 */
export async function withErasureLease<T>(
  db: Queryable,
  work: () => Promise<T>,
): Promise<T | "busy"> {
  const token = randomUUID();
  if (!(await extend(db, "take-erasure-lease", token))) return "busy";
  const renewal = setInterval(() => {
    // A renewal that fails lets the lease run out, and `work` meets the same fault.
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

/** A failure is that of `work` too, or is over when the lease has run out. */
async function release(db: Queryable, token: string): Promise<void> {
  await db
    .query({
      name: "release-erasure-lease",
      text: "update erasure_lease set token = null, expires_at = '-infinity' where token = $1::uuid",
      values: [token],
    })
    .catch(() => undefined);
}
