-- The newest mark of the facts audit: its number never falls while this store keeps what it was given (fact_mark of Postgres).
create table if not exists fact_mark
(
  id UInt8,
  number UInt64,
  token String
)
engine = ReplacingMergeTree(number)
order by id;
-- A confirmed insert survives a power cut; at most five inserts a second and table pay for it. Not so the mark above: if
-- anything is forgotten, the mark is too, and that is how it is noticed.
alter table conversion_fact modify setting fsync_after_insert = 1, fsync_part_directory = 1;
alter table ad_cost_fact modify setting fsync_after_insert = 1, fsync_part_directory = 1;
