import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Stops the sending of postbacks and webhooks. Deliveries that are being sent now end as usual. Safe to repeat. */
export async function holdDeliveries(db: Queryable, reason: string): Promise<void> {
  await db.query({
    name: "hold-deliveries",
    text: "insert into delivery_hold (reason) values ($1) on conflict do nothing",
    values: [reason],
  });
}

/** Returns since when deliveries were held; undefined if they were not. */
export async function releaseDeliveries(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ heldAt: string }>({
    name: "release-deliveries",
    text: 'delete from delivery_hold returning held_at as "heldAt"',
  });
  return rows[0]?.heldAt;
}

/** Counting stops here. */
const COUNTED_MAX = 100_000;

/** Deliveries that wait for their first or next attempt, at most 100,000 of each kind. */
export async function countWaiting(
  db: Queryable,
): Promise<{ readonly postbacks: number; readonly webhooks: number }> {
  const { rows } = await db.query<{ postbacks: number; webhooks: number }>({
    name: "count-waiting-deliveries",
    text: `select
             (select count(*) from (select from delivery where due_at is not null and kind = 'postback' limit $1) p) as postbacks,
             (select count(*) from (select from delivery where due_at is not null and kind = 'webhook' limit $1) w) as webhooks`,
    values: [COUNTED_MAX],
  });
  return rows[0] ?? { postbacks: 0, webhooks: 0 };
}
