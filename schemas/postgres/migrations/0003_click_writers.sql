-- Writers that are alive, also those without a lane: lanes are spread over them.
create table lane_writer (
  owner text primary key,
  expires_at timestamptz(3) not null
);

-- Positions that never come to the table: lost at their producer, which has said so, or unreadable. Without this they would
-- be asked for again after every restart. Ranges of one (lane, producer, epoch) do not overlap.
create table click_lost (
  lane integer not null,
  producer integer not null,
  epoch bigint not null,
  from_position bigint not null,
  -- The first position after the range.
  to_position bigint not null check (to_position > from_position),
  reason text not null check (reason in ('declared', 'unreadable')),
  noted_at timestamptz(3) not null default now(),
  primary key (lane, producer, epoch, from_position)
);

-- How many positions of each producer's sequence were taken care of when this was last noted: a table that holds fewer has
-- forgotten some, and is filled again (P5).
create table click_stored (
  lane integer not null,
  producer integer not null,
  epoch bigint not null,
  settled bigint not null,
  noted_at timestamptz(3) not null default now(),
  primary key (lane, producer, epoch)
);
