-- Counts a conversion against its caps. Their counters must be locked (lock_caps).
create or replace function count_caps(conv_ts timestamptz, caps jsonb, timezone text) returns void language sql as $$
  update cap_counter c set used = c.used + k.add
  from cap_counts(conv_ts, caps, timezone) k
  where c.cap = k.cap and c.bucket_start = k.bucket_start
$$;
