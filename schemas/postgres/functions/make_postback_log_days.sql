-- Makes the partitions of today and of `ahead` days that have none, and moves what the day has in `postback_log_other`.
-- Returns how many it made.
create or replace function make_postback_log_days(ahead integer) returns integer language plpgsql as $$
declare
  day date;
  name text;
  first_day date := (now() at time zone 'UTC')::date;
  begins text;
  ends text;
  columns text := 'id, workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message,
    request_id, advertiser_id, offer_id, event_id';
  made integer := 0;
begin
  perform pg_advisory_xact_lock(7265011);
  for day in select first_day + n from generate_series(0, ahead) n loop
    name := 'postback_log_' || to_char(day, 'YYYYMMDD');
    begins := day || ' 00:00:00+00';
    ends := (day + 1) || ' 00:00:00+00';
    continue when to_regclass(name) is not null;
    execute format('create table %I (like postback_log including defaults including constraints including indexes)', name);
    execute format('with moved as (delete from postback_log_other where ts >= %L and ts < %L returning %s)
      insert into %I (%s) select %s from moved', begins, ends, columns, name, columns, columns);
    execute format('alter table postback_log attach partition %I for values from (%L) to (%L)', name, begins, ends);
    made := made + 1;
  end loop;
  return made;
end $$;
