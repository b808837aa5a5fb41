-- Which stores belong together: ClickHouse has the same incarnation (installation_mark). A restore gives it a new value.
alter table installation add column incarnation uuid not null default gen_random_uuid();

-- Counts up every few seconds, and ClickHouse is told: a Postgres whose beat is behind what ClickHouse knows was restored from a
-- backup. One row.
create table store_beat (
  id integer primary key default 1 check (id = 1),
  beat bigint not null default 0,
  beat_at timestamptz(3) not null default '-infinity',
  -- When sequences were last lifted after a restore.
  lifted_at timestamptz(3) not null default '-infinity'
);
insert into store_beat default values;
