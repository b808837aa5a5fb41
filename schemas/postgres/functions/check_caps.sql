-- Judges by the caps, whose counters must be locked (lock_caps): 'exceeded' when one is reached or would be passed, 'alert' when only
-- alert-only ones are, else 'free'. Also notes what it refuses.
create or replace function check_caps(conv_ts timestamptz, caps jsonb, timezone text) returns text language plpgsql as $$
declare
  found_counters integer;
  exceeded boolean;
  alerted boolean;
begin
  select count(*),
         bool_or(not k.alert and (u.used >= k."limit" or u.used + k.add > k."limit")),
         bool_or(k.alert and (u.used >= k."limit" or u.used + k.add > k."limit"))
  into found_counters, exceeded, alerted
  from cap_counts(conv_ts, caps, timezone) k
  join cap_counter c on c.cap = k.cap and c.bucket_start = k.bucket_start
  cross join lateral (
    select c.used + coalesce(sum(m.amount), 0) as used from cap_click_money m
    where m.cap = c.cap and m.bucket_start = c.bucket_start) u;
  if found_counters <> jsonb_array_length(caps) then
    raise exception 'a cap counter went away' using errcode = 'serialization_failure';
  end if;
  if exceeded then
    update cap_counter c set refused_limit = k."limit"
    from cap_counts(conv_ts, caps, timezone) k
    cross join lateral (
      select coalesce(sum(m.amount), 0) as of_clicks from cap_click_money m
      where m.cap = k.cap and m.bucket_start = k.bucket_start) m
    where c.cap = k.cap and c.bucket_start = k.bucket_start and not k.alert and c.used + m.of_clicks < k."limit"
      and c.used + m.of_clicks + k.add > k."limit" and c.refused_limit is distinct from k."limit";
  end if;
  return case when exceeded then 'exceeded' when alerted then 'alert' else 'free' end;
end $$;
