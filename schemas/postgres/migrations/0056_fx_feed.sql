-- reads: 0040
-- What became of the daily feed of reference rates. One row.
create table fx_feed (
  id boolean primary key default true check (id),
  -- `off`, or the host of the feed.
  source text not null,
  attempted_at timestamptz,
  succeeded_at timestamptz,
  -- The newest day that the feed had.
  newest_day date,
  -- Why the last attempt failed; empty if it did not.
  error text not null default ''
);
