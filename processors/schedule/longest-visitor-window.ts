import type { Queryable } from "../../schemas/postgres/connect.ts";

/**
 * Days for which clicks must keep their visitor, whatever the setting says: the longest window of any offer in which a visitor is
 * recognised (`unique_click_hours`, `duplicate_click_seconds`).
 */
export async function longestWindowDays(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ days: number }>({
    name: "longest-visitor-window",
    text: `select coalesce(ceil(max(greatest(unique_click_hours / 24.0, duplicate_click_seconds / 86400.0))), 1)::int as days
           from offer`,
  });
  return rows[0]?.days ?? 1;
}
