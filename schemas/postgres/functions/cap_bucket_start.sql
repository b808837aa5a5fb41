-- Start of the period of a cap that `at` lies in, in the time zone of the workspace. In the hour that is shown twice
-- date_trunc(…, timezone) gives two hours. Click caps, which capBucket counts, have one.
create or replace function cap_bucket_start(period text, at timestamptz, timezone text) returns timestamptz
language sql stable as $$
  select case period
    when 'hourly' then date_trunc('hour', at at time zone timezone) at time zone timezone
    when 'daily' then date_trunc('day', at, timezone)
    when 'weekly' then date_trunc('week', at, timezone)
    when 'monthly' then date_trunc('month', at, timezone)
    else '-infinity'::timestamptz
  end
$$;
