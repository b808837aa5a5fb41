-- reads: 0040
-- Conversions that wait for a hold although their report, or the default of their offer, left them pending: a person decides about them, and
-- not the end of the hold (G230).
do $$
declare
  waiting record;
begin
  for waiting in
    select c.id, c.version from conversion c join offer o on o.id = c.offer_id
    where c.status = 'pending' and c.hold_until is not null
      and coalesce(c.asked_status, o.default_status) = 'pending'
  loop
    perform change_conversion(waiting.id, waiting.version, '{"status_reason": "", "hold_until": null}', 'hold', null);
  end loop;
end $$;

-- The limit at which a conversion was last refused although something of it was left. Caps of money whose prices are all percentages count as
-- reached from then on (G231).
alter table cap_counter add column refused_limit numeric(22,4);

-- Whether a cap is reached: nothing is left, or the cheapest fixed price does not fit into the rest. Without a fixed price (`price` is null),
-- whether a conversion was refused at this limit or a higher one. Null if `used` is not known.
create function is_cap_reached(used numeric, "limit" numeric, price numeric, refused_limit numeric) returns boolean immutable language sql as $$
  select used >= "limit" or coalesce(used + price > "limit", coalesce(refused_limit >= "limit", false) and used is not null)
$$;

-- What unique clicks have cost in a period of a cap of payout or revenue (G232). The click writers store absolute totals that only grow.
create table cap_click_money (
  cap text not null,
  bucket_start timestamptz not null,
  offer_id integer not null,
  amount numeric(22,4) not null,
  primary key (cap, bucket_start, offer_id)
) with (fillfactor = 50);
create index cap_click_money_age on cap_click_money (bucket_start) where bucket_start > '-infinity';

-- Also notes what it refuses. The counters must be locked (lock_caps).
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

create or replace function conversion_state(c conversion) returns jsonb immutable language sql as $$
  select jsonb_build_object('id', c.id, 'workspace_id', c.workspace_id, 'offer_id', c.offer_id, 'affiliate_id', c.affiliate_id, 'advertiser_id',
    c.advertiser_id, 'event_code', c.event_code, 'status', c.status, 'status_reason', c.status_reason, 'is_duplicate',
    c.is_duplicate, 'revenue', c.revenue::text, 'payout', c.payout::text, 'sale_amount', c.sale_amount::text, 'currency',
    c.currency, 'payout_type', c.payout_type, 'payout_rate', c.payout_rate::text, 'payout_given', c.payout_given,
    'revenue_type', c.revenue_type, 'revenue_rate', c.revenue_rate::text, 'revenue_given', c.revenue_given,
    'adv_txid', c.adv_txid, 'method', c.method, 'conv_ts', c.conv_ts, 'version', c.version,
    'is_held', c.status = 'pending' and c.hold_until is not null,
    'report_fingerprint', '\x' || encode(c.report_fingerprint, 'hex'),
    'change_fingerprint', '\x' || encode(c.change_fingerprint, 'hex'),
    'asked_status', c.asked_status)
$$;

-- Approves conversions whose hold is over. Conversions of a blocked or rejected partner wait for the staff instead (G233).
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
    if exists (select from affiliate a where a.id = before.affiliate_id and a.status in ('blocked', 'rejected')) then
      after.status_reason := 'rule:partner_blocked';
    else
      after.status := 'approved';
      after.status_reason := '';
    end if;
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
