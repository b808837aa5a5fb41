-- The audit of facts: ClickHouse's copies of conversions and ad costs compared with their records.

create table fact_audit (
  -- 'recent': the last days, every hour. 'all': every day, once a night.
  scope text primary key,
  -- Rises whenever an audit begins, also when the one before has not reached its end.
  run integer not null default 0,
  finished_run integer not null default 0,
  begun_at timestamptz(3) not null default '-infinity',
  finished_at timestamptz(3) not null default '-infinity',
  -- The last span that was compared: {"table", "workspaceId", "fromMs"}. A process that takes over goes on behind it.
  position jsonb,
  -- Differences found in this run.
  found bigint not null default 0
);
insert into fact_audit (scope) values ('recent'), ('all');

-- A number that both stores remember, so that the one that went back to an older state is noticed (G206). The pending mark is
-- written here, then in ClickHouse, then here as the confirmed one.
create table fact_mark (
  id smallint primary key check (id = 1),
  confirmed_number bigint not null,
  confirmed_token text not null,
  pending_number bigint not null,
  pending_token text not null
);
insert into fact_mark values (1, 0, '', 0, '');

-- When a server was last seen to have started: it forgets only by being started on other data, or after a power cut.
create table fact_store_start (
  -- 'postgres', or 'clickhouse ' and the name of the host.
  server text primary key,
  started_at timestamptz(3) not null
);
