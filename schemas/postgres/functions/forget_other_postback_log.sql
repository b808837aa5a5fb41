-- Deletes at most `rows_max` rows older than `keep_days` that lie in no partition of a day. Returns how many.
create or replace function forget_other_postback_log(keep_days integer, rows_max integer) returns integer language plpgsql as $$
declare
  source text;
  forgotten integer;
begin
  foreach source in array array['postback_log_before', 'postback_log_other'] loop
    continue when to_regclass(source) is null;
    execute format('delete from %I where ctid = any(array(
      select ctid from %I where ts < now() - $1 * interval ''1 day'' limit $2))', source, source)
    using keep_days, rows_max;
    get diagnostics forgotten = row_count;
    if forgotten > 0 then
      return forgotten;
    end if;
  end loop;
  return 0;
end $$;
