import type { Queryable } from "../postgres/connect.ts";

export const BACKED_UP_STORES = ["postgres", "clickhouse"] as const;
export type BackedUpStore = (typeof BACKED_UP_STORES)[number];

/** Notes that a store was backed up, for `backup_age_seconds`. An earlier time than the known one changes nothing. */
export async function noteBackup(
  db: Queryable,
  stores: readonly BackedUpStore[],
  at: Date,
): Promise<void> {
  await db.query({
    name: "note-backup",
    text: `insert into backup_note as known (store, backed_up_at)
           select store, $2 from unnest($1::text[]) store
           on conflict (store) do update set backed_up_at = greatest(known.backed_up_at, excluded.backed_up_at)`,
    values: [stores, at.toISOString()],
  });
}

/** Seconds since the last backup of each store, by the clock of Postgres; no entry for a store without one. */
export async function readBackupAges(db: Queryable): Promise<Map<BackedUpStore, number>> {
  const { rows } = await db.query<{ store: BackedUpStore; seconds: number }>({
    name: "read-backup-ages",
    text: `select store, extract(epoch from now() - backed_up_at)::float8 as seconds from backup_note`,
  });
  return new Map(rows.map(({ store, seconds }) => [store, seconds]));
}
