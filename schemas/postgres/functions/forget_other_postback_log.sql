-- Deletes at most `rows_max` rows older than `keep_days` that lie in no partition of a day. Returns how many.
create or replace function forget_other_postback_log(keep_days integer, rows_max integer) returns integer language plpgsql as $$
declare
  forgotten integer;
begin
  delete from postback_log_other o where o.ctid = any(array(
    select t.ctid from postback_log_other t where t.ts < now() - keep_days * interval '1 day' limit rows_max));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
