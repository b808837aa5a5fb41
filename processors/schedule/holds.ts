import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Approves conversions whose hold is over, at most `rowsMax`. Returns how many. Several processes may call it at the same time (P18). */
export async function releaseDueHolds(db: Queryable, rowsMax: number): Promise<number> {
  const { rows } = await db.query<{ released: number }>({
    name: "release-due-holds",
    text: "select release_due_holds($1) as released",
    values: [rowsMax],
  });
  return rows[0]?.released ?? 0;
}

/** Milliseconds until the next hold ends, by the clock of Postgres; undefined when no conversion is held. */
export async function nextHoldInMs(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query<{ in_ms: number }>({
    name: "next-hold-in-ms",
    text: `select ceil(extract(epoch from hold_until - clock_timestamp()) * 1000)::bigint as in_ms
           from conversion where hold_until is not null and status = 'pending' order by hold_until limit 1`,
  });
  return rows[0]?.in_ms;
}
