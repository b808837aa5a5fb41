-- reads: 0038
-- Every long-running process, seen every 10 s. `tracker status` and upgrades look here for processes that do not answer. A process deletes its
-- row when it ends in order, so a row that grows old is of one that was killed, hangs or cannot reach Postgres. Times are of the clock of Postgres.
create table system_process (
  process_id uuid primary key,
  role text not null check (role in ('ingress', 'processors', 'api')),
  name text not null,
  host text not null,
  version text not null,
  commit text not null,
  -- The newest migration of Postgres that the code of the process knows.
  schema_version integer not null,
  -- Of Postgres when the row was written. In a restored or cloned database it may be another one.
  incarnation uuid not null,
  started_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null
);
