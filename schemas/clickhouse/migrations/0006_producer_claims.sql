-- Which start of an ingress process a producer's epoch belongs to: the one whose batch came first. It is written before the
-- first row of the epoch, so that a second process with the same number and epoch is noticed, also by the next writer and
-- with a Postgres that was restored from a backup. A few rows a start of a process.
create table if not exists producer_claim
(
  lane UInt8,
  producer UInt16,
  epoch UInt32,
  nonce String,
  claimed_at DateTime64(3, 'UTC') default now64(3)
)
engine = MergeTree
order by (lane, producer, epoch)
settings fsync_after_insert = 1, fsync_part_directory = 1;
