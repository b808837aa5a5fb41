-- reads: 0040
-- The shard of a ClickHouse cluster that gets a lane's new rows, as the macros of its nodes name it. Null on a server alone, and until the
-- lane is opened for the first time.
alter table lane_lease add column shard text;
-- The shard to which an operator moves the lane. Its writer clears this when it has moved.
alter table lane_lease add column move_to text;

-- What a lane had stored on a shard when it left it. Its writer needs this while that shard does not answer.
create table click_left_shard (
  lane integer not null,
  shard text not null,
  producer integer not null,
  epoch bigint not null,
  -- Positions with a row, ascending: [[from, to], …]; `to` is exclusive.
  ranges jsonb not null,
  left_at timestamptz(3) not null default now(),
  primary key (lane, shard, producer, epoch)
);
