-- The inbound log by day (UTC): what is too old is dropped with its partition, at any rate of calls. Rows of a day without a
-- partition go to `postback_log_other`, so a missing partition never fails an insert.

alter table postback_log rename to postback_log_before;
alter table postback_log_before alter column id drop identity;
alter table postback_log_before drop constraint postback_log_pkey;
drop index postback_log_age;
alter index postback_log_list rename to postback_log_before_list;
alter index postback_log_click rename to postback_log_before_click;
alter index postback_log_conversion rename to postback_log_before_conversion;
alter index postback_log_result rename to postback_log_before_result;

create sequence postback_log_number;
select setval('postback_log_number', (select coalesce(max(id), 0) + 1 from postback_log_before), false);

create table postback_log (
  id bigint not null default nextval('postback_log_number'),
  workspace_id integer,
  ts timestamptz(3) not null default now(),
  endpoint text not null,
  ip inet,
  token_owner text not null default '',
  params jsonb not null default '{}',
  http_status integer not null,
  result text not null,
  click_id text,
  conversion_id uuid,
  message text not null default ''
) partition by range (ts);
create index postback_log_list on postback_log (workspace_id, ts desc, id desc);
create index postback_log_click on postback_log (click_id, ts desc, id desc) where click_id is not null;
create index postback_log_conversion on postback_log (conversion_id, ts desc, id desc) where conversion_id is not null;
create index postback_log_result on postback_log (workspace_id, result, ts desc, id desc) where result <> 'approved';

create table postback_log_other partition of postback_log default;

-- Rows of before this migration stay where they are, as one partition up to the end of the last day that has any.
do $$
declare
  until_day date := (select (greatest(max(ts), now()) at time zone 'UTC')::date + 1 from postback_log_before);
begin
  if exists (select from postback_log_before) then
    execute format('alter table postback_log attach partition postback_log_before for values from (minvalue) to (%L)',
      until_day || ' 00:00:00+00');
  else
    drop table postback_log_before;
  end if;
end $$;

-- The end of a partition's range; null for the one without a range, and for a table that is none.
create function end_of_partition(of_table regclass) returns timestamptz language sql stable as $$
  select (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz
  from pg_class c where c.oid = of_table
$$;

-- Makes the partitions of today and of `ahead` days that have none, and moves what the day has in `postback_log_other`.
-- Returns how many it made.
create function make_postback_log_days(ahead integer) returns integer language plpgsql as $$
declare
  day date;
  name text;
  first_day date := (now() at time zone 'UTC')::date;
  begins text;
  ends text;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(7265011);
  for day in select first_day + n from generate_series(0, ahead) n loop
    name := 'postback_log_' || to_char(day, 'YYYYMMDD');
    begins := day || ' 00:00:00+00';
    ends := (day + 1) || ' 00:00:00+00';
    continue when to_regclass(name) is not null
      or begins::timestamptz < end_of_partition(to_regclass('postback_log_before'));
    execute format('create table %I (like postback_log including defaults including constraints including indexes)', name);
    execute format(
      'with moved as (delete from postback_log_other where ts >= %L and ts < %L
         returning id, workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message)
       insert into %I (id, workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message)
       select id, workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message
       from moved', begins, ends, name);
    execute format('alter table postback_log attach partition %I for values from (%L) to (%L)', name, begins, ends);
    made := made + 1;
  end loop;
  return made;
end $$;
select make_postback_log_days(14);

-- Drops the partitions whose last row is older than `keep_days`. Returns how many.
create function drop_postback_log_days(keep_days integer) returns integer language plpgsql as $$
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

-- Deletes at most `rows_max` rows older than `keep_days` that lie in no partition of a day. Returns how many.
create function forget_other_postback_log(keep_days integer, rows_max integer) returns integer language plpgsql as $$
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

-- Conversions that still know something of their visitor, by age: CONVERSION_RETENTION_DAYS.
create index conversion_described on conversion (conv_ts)
  where conv_ip is not null or email_hash is not null or phone_hash is not null
    or click ?| array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid'];

-- Clears what at most `rows_max` conversions older than `keep_days` know of their visitors. Status, money and what reports split
-- by stay. Returns how many it changed.
create function forget_visitors_of_conversions(keep_days integer, rows_max integer) returns integer language plpgsql as $$
declare
  changed integer;
begin
  update conversion c
  set conv_ip = null, email_hash = null, phone_hash = null,
      click = c.click - array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid']
  where c.id = any(array(
    select o.id from conversion o
    where o.conv_ts < now() - keep_days * interval '1 day'
      and (o.conv_ip is not null or o.email_hash is not null or o.phone_hash is not null
        or o.click ?| array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid'])
    order by o.conv_ts limit rows_max for update skip locked));
  get diagnostics changed = row_count;
  return changed;
end $$;
