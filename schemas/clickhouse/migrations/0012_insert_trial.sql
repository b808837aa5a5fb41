-- reads: 0011
-- Where a strict process tries whether a repeated insert is stored once, with the settings of the tables of clicks. A few rows a
-- minute, kept for a day.
create table if not exists insert_trial
(
  trial UUID,
  tried_at DateTime('UTC') default now()
)
engine = MergeTree
order by tried_at
ttl tried_at + interval 1 day
settings non_replicated_deduplication_window = 10000;
