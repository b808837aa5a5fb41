import type { Queryable } from "../../schemas/postgres/connect.ts";

/**
 * Takes or renews the right to copy, for `leaseMs`. One process holds it; when it stops renewing, another takes over. A copy made by
 * two processes does no harm, so the lease needs no fence. A lease that ends more than a minute later than `leaseMs` from now was
 * written by a clock that was ahead, and counts as expired.
 */
export async function holdRelayLease(
  db: Queryable,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "hold-relay-lease",
    text: `update fact_relay_lease set owner = $1, expires_at = clock_timestamp() + $2::integer * interval '1 millisecond'
           where id = 1 and (owner = $1 or expires_at < clock_timestamp()
             or expires_at > clock_timestamp() + $2::integer * interval '1 millisecond' + interval '1 minute')`,
    values: [owner, leaseMs],
  });
  return rowCount === 1;
}

/** Lets another process begin at once. */
export async function releaseRelayLease(db: Queryable, owner: string): Promise<void> {
  await db.query({
    name: "release-relay-lease",
    text: "update fact_relay_lease set expires_at = '-infinity' where id = 1 and owner = $1",
    values: [owner],
  });
}
