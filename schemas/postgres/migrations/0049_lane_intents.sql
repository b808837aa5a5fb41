-- reads: 0040
-- The last insert of a lane that its writer has begun: the only one whose outcome may be unknown. It is recorded before the insert begins, and
-- the next owner of the lane settles it before it inserts anything else (P9).
-- `intent`: {n, table, month, ranges: [[producer, epoch, from, to], …], token, home}, at most 1,000 ranges, about 40 kB.
alter table lane_lease add column intent jsonb;
-- The newest epoch whose owner records its inserts. If it is not the last one, the last owner was of a release before this.
alter table lane_lease add column intent_epoch bigint;
-- The ClickHouse replica that has the newest rows of the lane. Null on a server alone.
alter table lane_lease add column home text;

-- A few rows that are replaced at every insert: each page keeps room for new versions, and old ones are removed early.
alter table lane_lease set (
  fillfactor = 30,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 1000
);
