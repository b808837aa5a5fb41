-- How a conversion is written. Each function is one statement of the processor and so one transaction: row, cap counters,
-- history and outbox are there together or not at all (G195), and no lock is held over a round trip.

-- Which process copies conversion facts. It only spares double work: the copies themselves are idempotent.
create table fact_relay_lease (
  id integer primary key default 1 check (id = 1),
  owner text not null default '',
  expires_at timestamptz(3) not null default '-infinity'
);
insert into fact_relay_lease default values;

-- Everything that follows from a change of a conversion, in the transaction of the change; `before` is null for a new one.
-- Delivery rows (postbacks, webhooks) are written here too.
create function after_conversion_change(before conversion, after conversion, actor text, key_id integer)
returns void language plpgsql as $$
begin
  insert into conversion_history (conversion_id, at, actor, key_id, from_status, to_status, reason, from_revenue,
    to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
  values (after.id, clock_timestamp(), actor, key_id, before.status, after.status, after.status_reason, before.revenue,
    after.revenue, before.payout, after.payout, before.sale_amount, after.sale_amount);
  insert into conversion_fact_outbox (conversion_id) values (after.id);
end $$;

-- Start of the period of a cap that `at` lies in, in the time zone of the workspace.
create function cap_bucket_start(period text, at timestamptz, timezone text) returns timestamptz
language sql stable as $$
  select case period
    when 'hourly' then date_trunc('hour', at, timezone)
    when 'daily' then date_trunc('day', at, timezone)
    when 'weekly' then date_trunc('week', at, timezone)
    when 'monthly' then date_trunc('month', at, timezone)
    else '-infinity'::timestamptz
  end
$$;

-- Locks the counters of `caps` [{cap, bucket_start, limit, add, alert}]. Answers 'exceeded' when a cap is reached or would be
-- passed, 'alert' when only alert-only ones are, else 'free'. Counts nothing yet. Missing counters are made first and only then
-- are all of them locked, both in one order: no two conversions can wait for each other (P17).
create function check_caps(caps jsonb) returns text language plpgsql as $$
declare
  locked integer;
  exceeded boolean;
  alerted boolean;
begin
  insert into cap_counter (cap, bucket_start)
  select l.cap, l.bucket_start
  from jsonb_to_recordset(caps) as l(cap text, bucket_start timestamptz)
  where not exists (select from cap_counter c where c.cap = l.cap and c.bucket_start = l.bucket_start)
  order by l.cap, l.bucket_start
  on conflict do nothing;
  with mine as (
    select l.cap, l.bucket_start, l."limit", l.add, l.alert
    from jsonb_to_recordset(caps) as l(cap text, bucket_start timestamptz, "limit" numeric, add numeric, alert boolean)
  ), held as (
    select c.cap, c.bucket_start, c.used
    from cap_counter c
    where (c.cap, c.bucket_start) in (select m.cap, m.bucket_start from mine m)
    order by c.cap, c.bucket_start
    for update
  )
  select count(*),
         coalesce(bool_or(not m.alert and (h.used >= m."limit" or h.used + m.add > m."limit")), false),
         coalesce(bool_or(m.alert and (h.used >= m."limit" or h.used + m.add > m."limit")), false)
  into locked, exceeded, alerted
  from held h join mine m using (cap, bucket_start);
  if locked <> jsonb_array_length(caps) then
    raise exception 'a cap counter went away' using errcode = 'serialization_failure';
  end if;
  return case when exceeded then 'exceeded' when alerted then 'alert' else 'free' end;
end $$;

create function count_caps(caps jsonb) returns void language sql as $$
  update cap_counter c set used = c.used + l.add
  from jsonb_to_recordset(caps) as l(cap text, bucket_start timestamptz, add numeric)
  where c.cap = l.cap and c.bucket_start = l.bucket_start
$$;

create function insert_conversion(c conversion) returns boolean language plpgsql as $$
begin
  insert into conversion (id, workspace_id, click_id, offer_id, affiliate_id, advertiser_id, smart_link_id, event_id,
    event_code, is_private, status, status_reason, is_duplicate, cap_alert, revenue, payout, sale_amount, currency,
    payout_type, payout_rate, payout_given, revenue_type, revenue_rate, revenue_given, adv_txid, method, click_ts, conv_ts,
    hold_until, click, conv_ip, params, notes, email_hash, phone_hash, holds_click, holds_txid)
  values (c.id, c.workspace_id, c.click_id, c.offer_id, c.affiliate_id, c.advertiser_id, c.smart_link_id, c.event_id,
    c.event_code, c.is_private, c.status, c.status_reason, c.is_duplicate, c.cap_alert, c.revenue, c.payout, c.sale_amount,
    c.currency, c.payout_type, c.payout_rate, c.payout_given, c.revenue_type, c.revenue_rate, c.revenue_given, c.adv_txid,
    c.method, c.click_ts, c.conv_ts, c.hold_until, c.click, c.conv_ip, c.params, c.notes, c.email_hash, c.phone_hash,
    c.holds_click, c.holds_txid)
  on conflict do nothing;
  return found;
end $$;

-- The row that a report is about (G106, G107): the holder of its order id on the offer, else the one that stands for its click
-- and event. `latest_of_click`: an event that allows several, with a status and no order id, is about the newest of them.
create function find_conversion(c conversion, latest_of_click boolean, out found_row conversion, out found_by text)
language plpgsql as $$
begin
  if c.adv_txid is not null then
    found_row := (select t from conversion t where t.offer_id = c.offer_id and t.adv_txid = c.adv_txid and t.holds_txid);
    found_by := 'txid';
  end if;
  if found_row.id is null and c.click_id is not null then
    found_by := 'click';
    if c.holds_click then
      found_row := (select t from conversion t
        where t.click_id = c.click_id and t.event_code = c.event_code and t.holds_click);
    elsif latest_of_click then
      found_row := (select t from conversion t
        where t.click_id = c.click_id and t.event_code = c.event_code and not t.is_duplicate
        order by t.conv_ts desc, t.created_at desc, t.id desc limit 1);
    end if;
  end if;
  if found_row.id is null then
    found_by := null;
  end if;
end $$;

-- Records a new conversion, judged by the caller up to what only the tables know: whether it is a repeat, and its caps.
--
-- `plan` is {on_txid, on_click: what a row found that way makes of this one ('duplicate', 'existing' or 'conflict'),
-- on_none: 'insert', or 'none' where only a change of an existing row is taken, latest_of_click, may_be_multiple, caps [{cap, period, limit, add, alert}], timezone, actor, key_id}.
-- Answers {outcome: 'recorded', id, status, status_reason, is_duplicate}, {outcome: 'existing', found_by, row} with nothing
-- written, {outcome: 'conflict'} or {outcome: 'none'}. The unique indexes decide between reports that come at once (P16).
create function record_conversion(input jsonb, plan jsonb) returns jsonb language plpgsql as $$
declare
  c conversion := jsonb_populate_record(null::conversion, input);
  nothing conversion;
  hit record;
  reaction text;
  caps jsonb := '[]';
  capped text;
begin
  if (plan ->> 'may_be_multiple')::boolean then
    -- "The first" and "a further one" need an order, which no index gives here.
    perform pg_advisory_xact_lock(hashtextextended(c.click_id || ' ' || c.event_code, 7265002));
  end if;
  for attempt in 1..3 loop
    select f.found_row as found_row, f.found_by as found_by into hit
    from find_conversion(c, (plan ->> 'latest_of_click')::boolean) f;
    if hit.found_by is not null then
      reaction := plan ->> ('on_' || hit.found_by);
      -- Another order of the same click is another report, never a change of the first (G106).
      if hit.found_by = 'click' and reaction = 'existing'
         and c.adv_txid is not null and c.adv_txid is distinct from (hit.found_row).adv_txid then
        reaction := 'duplicate';
      end if;
      if reaction = 'existing' then
        return jsonb_build_object('outcome', 'existing', 'found_by', hit.found_by, 'row', conversion_state(hit.found_row));
      elsif reaction = 'conflict' then
        return jsonb_build_object('outcome', 'conflict');
      elsif plan ->> 'on_none' = 'none' then
        return jsonb_build_object('outcome', 'none');
      end if;
      c.status := 'rejected';
      c.status_reason := 'duplicate';
      c.is_duplicate := true;
      c.hold_until := null;
      c.holds_click := false;
      c.holds_txid := false;
      caps := '[]';
    elsif plan ->> 'on_none' = 'none' then
      return jsonb_build_object('outcome', 'none');
    else
      if jsonb_array_length(plan -> 'caps') > 0 then
        select jsonb_agg(jsonb_build_object('cap', l.cap, 'limit', l."limit", 'add', l.add, 'alert', l.alert, 'bucket_start',
                 cap_bucket_start(l.period, c.conv_ts, plan ->> 'timezone')))
        into caps
        from jsonb_to_recordset(plan -> 'caps') as l(cap text, period text, "limit" numeric, add numeric, alert boolean);
        capped := check_caps(caps);
        if capped = 'exceeded' then
          c.status := 'rejected';
          c.status_reason := 'cap_exceeded';
          c.hold_until := null;
        elsif capped = 'alert' then
          c.cap_alert := true;
        end if;
      end if;
      if c.status_reason = '' and (plan ->> 'may_be_multiple')::boolean and exists (
           select from conversion t
           where t.click_id = c.click_id and t.event_code = c.event_code and not t.is_duplicate) then
        c.status_reason := 'multiple';
      end if;
    end if;
    if insert_conversion(c) then
      if c.status <> 'rejected' and jsonb_array_length(caps) > 0 then
        perform count_caps(caps);
      end if;
      perform after_conversion_change(nothing, c, plan ->> 'actor', (plan ->> 'key_id')::integer);
      return jsonb_build_object('outcome', 'recorded', 'id', c.id, 'status', c.status, 'status_reason', c.status_reason,
        'is_duplicate', c.is_duplicate);
    end if;
    -- Another report of the same took the place meanwhile and is visible now: judge again with it in sight.
    c := jsonb_populate_record(null::conversion, input);
  end loop;
  raise exception 'the place of a conversion changed hands too often' using errcode = 'serialization_failure';
end $$;

-- What record_conversion would answer now, with nothing stored: the block takes back all it did.
create function try_conversion(input jsonb, plan jsonb) returns jsonb language plpgsql as $$
declare
  answer jsonb;
begin
  begin
    answer := record_conversion(input, plan);
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $$;

-- What a change is decided from. Money leaves as text: a JSON number would become a float.
create function conversion_state(c conversion) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', c.id, 'workspace_id', c.workspace_id, 'offer_id', c.offer_id, 'advertiser_id',
    c.advertiser_id, 'event_code', c.event_code, 'status', c.status, 'status_reason', c.status_reason, 'is_duplicate',
    c.is_duplicate, 'revenue', c.revenue::text, 'payout', c.payout::text, 'sale_amount', c.sale_amount::text, 'currency',
    c.currency, 'payout_type', c.payout_type, 'payout_rate', c.payout_rate::text, 'payout_given', c.payout_given,
    'revenue_type', c.revenue_type, 'revenue_rate', c.revenue_rate::text, 'revenue_given', c.revenue_given,
    'adv_txid', c.adv_txid, 'conv_ts', c.conv_ts, 'version', c.version)
$$;

-- Brings a conversion from `version` to the state in `change` {status, status_reason, revenue, payout, sale_amount,
-- payout_given, revenue_given}. False when it is no longer at that version: somebody else changed it, decide again.
create function change_conversion(conversion_id uuid, from_version integer, change jsonb, actor text, key_id integer)
returns boolean language plpgsql as $$
declare
  before conversion := (select t from conversion t where t.id = conversion_id for update);
  after conversion;
begin
  if before.version is distinct from from_version then
    return false;
  end if;
  after := jsonb_populate_record(before, change);
  after.version := before.version + 1;
  after.updated_at := clock_timestamp();
  -- A status that somebody set is not changed by the end of a hold.
  if after.status <> before.status or actor = 'api' then
    after.hold_until := null;
  end if;
  update conversion t
  set status = after.status, status_reason = after.status_reason, revenue = after.revenue, payout = after.payout,
      sale_amount = after.sale_amount, payout_given = after.payout_given, revenue_given = after.revenue_given,
      notes = after.notes, hold_until = after.hold_until, version = after.version, updated_at = after.updated_at
  where t.id = conversion_id;
  perform after_conversion_change(before, after, actor, key_id);
  return true;
end $$;

-- Staff set a status (section 4.8). Rows are locked in the order of ids and answered in the order of `ids`, each once. A row that
-- is already so is answered and left alone. Duplicates are left alone unless `reject_duplicates`, and then only rejected.
create function set_conversion_status(of_workspace integer, ids uuid[], change jsonb, reject_duplicates boolean, by_key integer)
returns table (id uuid, outcome text, status text, status_reason text) language plpgsql as $$
#variable_conflict use_column
declare
  wanted uuid;
  current conversion;
  changed conversion;
begin
  perform from conversion t where t.workspace_id = of_workspace and t.id = any(ids) order by t.id for update;
  for wanted in
    select i.id from unnest(ids) with ordinality as i(id, place) group by i.id order by min(i.place)
  loop
    current := (select t from conversion t where t.workspace_id = of_workspace and t.id = wanted);
    if current.id is null then
      return query select wanted, 'not-found', '', '';
      continue;
    end if;
    if current.is_duplicate and not (reject_duplicates and change ->> 'status' = 'rejected') then
      return query select wanted, 'duplicate', current.status, current.status_reason;
      continue;
    end if;
    changed := jsonb_populate_record(current, change);
    if (changed.status, changed.status_reason, changed.notes)
       is distinct from (current.status, current.status_reason, current.notes) then
      perform change_conversion(wanted, current.version, change, 'api', by_key);
    end if;
    return query select wanted, 'updated', changed.status, changed.status_reason;
  end loop;
end $$;
