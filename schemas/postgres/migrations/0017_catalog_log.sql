-- A Postgres that was restored from an older copy gives the same versions to other changes. So each transaction that changes the
-- catalog writes a random mark beside its first version: the mark of a version is that of the newest row at or below it. A reader
-- keeps the mark of its version, and a copy that has another mark there, or none, has another history (G206).
--
-- The first row stands for everything before this migration. Rows are kept for a week, and at most a million of them; the newest
-- one is never removed.
create table catalog_log (
  version bigint primary key,
  mark uuid not null default gen_random_uuid(),
  logged_at timestamptz(3) not null default clock_timestamp()
);
insert into catalog_log (version) values (0);

-- The setting lasts as long as the transaction, and is undone with a savepoint as the row is.
create or replace function next_catalog_version() returns bigint language plpgsql as $$
declare
  given bigint;
begin
  perform pg_advisory_xact_lock(7265001);
  given := nextval('catalog_version');
  if coalesce(current_setting('tracker.catalog_is_logged', true), '') = '' then
    insert into catalog_log (version) values (given);
    perform set_config('tracker.catalog_is_logged', 'yes', true);
  end if;
  return given;
end $$;
