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
