-- What Postgres has said of itself: its incarnation, its newest beat, and where its sequences stood by then. A Postgres that was
-- restored from a backup is behind this, and gives no id again that stood here.
create table if not exists installation_mark
(
  incarnation UUID,
  beat UInt64,
  sequences Map(String, UInt64),
  marked_at DateTime64(3, 'UTC') default now64(3)
)
engine = ReplacingMergeTree(beat)
order by incarnation
settings fsync_after_insert = 1, fsync_part_directory = 1;
