-- reads: 0038
-- After a restore, deliveries that were sent since the backup are due again. While this row is there, none is sent.
create table delivery_hold (
  id integer primary key default 1 check (id = 1),
  held_at timestamptz(3) not null default now(),
  reason text not null
);

-- When each store was last backed up, for the metric backup_age_seconds. `tracker backup` and `tracker backup note` write it.
create table backup_note (
  store text primary key check (store in ('postgres', 'clickhouse')),
  backed_up_at timestamptz(3) not null
);
