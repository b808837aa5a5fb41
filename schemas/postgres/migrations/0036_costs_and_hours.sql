-- In the hour that is shown twice date_trunc(…, timezone) gives two hours. Click caps, which capBucket counts, have one.
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

-- now(), because an index cannot find the rows before a time that differs from row to row.
create or replace function release_due_holds(rows_max integer) returns integer language plpgsql as $$
declare
  held record;
  before conversion;
  after conversion;
  released integer := 0;
begin
  for held in
    select t as state from conversion t
    where t.hold_until <= now() and t.status = 'pending'
    order by t.hold_until limit rows_max
    for update skip locked
  loop
    before := held.state;
    after := before;
    after.status := 'approved';
    after.status_reason := '';
    after.hold_until := null;
    after.version := before.version + 1;
    after.updated_at := clock_timestamp();
    update conversion t
    set status = after.status, status_reason = after.status_reason, hold_until = null, version = after.version,
        updated_at = after.updated_at
    where t.id = before.id;
    perform after_conversion_change(before, after, 'hold', null);
    released := released + 1;
  end loop;
  return released;
end $$;

-- A conversion reads its own partner's postbacks, and those for all partners, on its offer.
drop index postback_fires;
create index postback_fires on postback (offer_id, affiliate_id) where status = 'active';

-- For retention.
create index cap_counter_age on cap_counter (bucket_start) where bucket_start > '-infinity';
