-- Drops the partitions whose last row is older than `keep_days`. Returns how many.
create or replace function drop_postback_log_days(keep_days integer) returns integer language plpgsql as $$
declare
  old regclass;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(7265011);
  for old in
    select i.inhrelid::regclass from pg_inherits i
    where i.inhparent = 'postback_log'::regclass
      and end_of_partition(i.inhrelid::regclass) <= now() - keep_days * interval '1 day'
  loop
    execute format('drop table %s', old);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
