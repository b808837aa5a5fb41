import type { Queryable } from "./connect.ts";

/** What became of the daily feed of reference rates (G221). Times are ISO. */
export type FxFeed = {
  /** `unread`: no process has looked at it yet. */
  readonly state: "ok" | "failed" | "off" | "unread";
  /** Host of the feed; empty without one. */
  readonly source: string;
  readonly attempted_at: string | null;
  readonly succeeded_at: string | null;
  /** The newest day that it had. */
  readonly newest_day: string | null;
  /** Why the last attempt failed. */
  readonly error: string;
};

const OFF = "off";
const UNREAD: FxFeed = {
  state: "unread",
  source: "",
  attempted_at: null,
  succeeded_at: null,
  newest_day: null,
  error: "",
};

export async function findFxFeed(db: Queryable): Promise<FxFeed> {
  const { rows } = await db.query<Omit<FxFeed, "state">>({
    name: "find-fx-feed",
    text: "select source, attempted_at, succeeded_at, newest_day, error from fx_feed",
  });
  const [row] = rows;
  if (row === undefined) return UNREAD;
  if (row.source === OFF) return { ...row, source: "", state: "off" };
  return { ...row, state: row.error === "" ? "ok" : "failed" };
}

export async function noteFeedIsOff(db: Queryable): Promise<void> {
  await db.query({
    name: "note-fx-feed-is-off",
    text: `insert into fx_feed (source) values ($1)
           on conflict (id) do update set source = excluded.source, error = '' where fx_feed.source <> excluded.source`,
    values: [OFF],
  });
}

export async function noteFeedIsRead(
  db: Queryable,
  { source, newestDay }: { readonly source: string; readonly newestDay: string },
): Promise<void> {
  await db.query({
    name: "note-fx-feed-is-read",
    text: `insert into fx_feed (source, attempted_at, succeeded_at, newest_day)
           values ($1, clock_timestamp(), clock_timestamp(), $2)
           on conflict (id) do update set source = excluded.source, attempted_at = excluded.attempted_at,
             succeeded_at = excluded.succeeded_at, newest_day = excluded.newest_day, error = ''`,
    values: [source, newestDay],
  });
}

export async function noteFeedFailed(
  db: Queryable,
  { source, error }: { readonly source: string; readonly error: string },
): Promise<void> {
  await db.query({
    name: "note-fx-feed-failed",
    text: `insert into fx_feed (source, attempted_at, error) values ($1, clock_timestamp(), $2)
           on conflict (id) do update
           set source = excluded.source, attempted_at = excluded.attempted_at, error = excluded.error`,
    values: [source, error],
  });
}
