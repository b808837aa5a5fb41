-- A Postgres that was restored from an older copy would give ids again that its lost time had given (P38). It can only become older by being
-- started on other data, by a standby that takes over, or by a restore into the database. Each of these is another value here, so ids wait
-- until the sequences have been compared with the values that ClickHouse has recorded (schemas/installation/compare-stores.ts).
create or replace function store_life() returns text language sql stable as $$
  select concat_ws('/', extract(epoch from pg_postmaster_start_time()),
    (select oid from pg_database where datname = current_database()), to_regclass('store_beat')::oid)
$$;
