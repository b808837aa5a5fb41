-- The counters that `plan` names, with the start of their period.
create or replace function cap_counts(conv_ts timestamptz, caps jsonb, timezone text)
returns table (cap text, bucket_start timestamptz, "limit" numeric, add numeric, alert boolean) language sql stable as $$
  select l.cap, cap_bucket_start(l.period, conv_ts, timezone), l."limit", l.add, l.alert
  from jsonb_to_recordset(caps) as l(cap text, period text, "limit" numeric, add numeric, alert boolean)
$$;
