-- What more decides about conversions: offer groups, rules and coupons; how many reports are recorded in one transaction; what
-- the scheduler does.

create table offer_group (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  offer_ids integer[] not null default '{}',
  caps jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create index offer_group_list on offer_group (workspace_id, created_at desc, id desc);

create table conversion_rule (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  position integer not null default 0,
  status text not null default 'active' check (status in ('active', 'paused')),
  action text not null check (action in ('reject', 'hold')),
  conditions jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create index conversion_rule_list on conversion_rule (workspace_id, position, id);

create table coupon (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  code text not null check (code <> ''),
  offer_id integer references offer,
  -- No reference: a coupon outlives its partner, and a report with it says so (section 7.5).
  affiliate_id integer not null,
  status text not null default 'active' check (status in ('active', 'inactive')),
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create unique index coupon_code on coupon (workspace_id, lower(code));
create index coupon_list on coupon (workspace_id, created_at desc, id desc);

do $$
declare
  kind text;
begin
  foreach kind in array array['offer_group', 'conversion_rule', 'coupon']
  loop
    execute format('create trigger stamp before insert or update on %I for each row execute function stamp_catalog_row()', kind);
    execute format('create trigger bury after delete on %I for each row execute function bury_catalog_row(%L)', kind, kind);
    execute format('create index %I on %I (version)', kind || '_version', kind);
  end loop;
end $$;

-- The view keeps its name and columns; what it was until now is a part of it.
alter view catalog_entry rename to catalog_entry_of_links;
create view catalog_entry as
  select kind, id, version, record from catalog_entry_of_links
  union all
  select 'offer_group', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'offer_ids', offer_ids, 'caps', caps)
    from offer_group
  union all
  select 'conversion_rule', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'position', position, 'status', status,
           'action', action, 'conditions', conditions)
    from conversion_rule
  union all
  select 'coupon', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'offer_id', offer_id,
           'affiliate_id', affiliate_id, 'status', status,
           'starts_at_ms', (extract(epoch from starts_at) * 1000)::bigint, 'ends_at_ms', (extract(epoch from ends_at) * 1000)::bigint)
    from coupon;

-- Addresses of the conversions that were taken on offers which count them (G101), for as long as they count: a day. `network`
-- is the /24, or the /48 of IPv6.
create table conversion_address (
  offer_id integer not null,
  network inet not null,
  address inet not null,
  conv_ts timestamptz(3) not null,
  conversion_id uuid not null
);
create index conversion_address_network on conversion_address (offer_id, network, conv_ts);

create function network_of(address inet) returns inet language sql immutable as $$
  select host(network(set_masklen(address, case family(address) when 4 then 24 else 48 end)))::inet
$$;

-- What the caller says about how to record; see record_conversion.
create type conversion_plan as (
  on_txid text,
  on_click text,
  on_none text,
  latest_of_click boolean,
  may_be_multiple boolean,
  caps jsonb,
  -- {address, same_max, network_max}: conversions of one address and of one network that a day may bring; null for no limit.
  address_limit jsonb,
  timezone text,
  actor text,
  key_id integer
);

-- The check of too many conversions from one address or network that stops this one; null for none.
create function address_check(c conversion, address_limit jsonb) returns text language plpgsql as $$
declare
  from_address inet := (address_limit ->> 'address')::inet;
  same integer;
  near integer;
begin
  select count(*) filter (where a.address = from_address), count(*) into same, near
  from conversion_address a
  where a.offer_id = c.offer_id and a.network = network_of(from_address)
    -- What came in beside it may carry a later time, and counts too.
    and a.conv_ts > c.conv_ts - interval '24 hours';
  return case
    when same >= (address_limit ->> 'same_max')::integer then 'fraud:duplicate_conv_ip'
    when near >= (address_limit ->> 'network_max')::integer then 'fraud:duplicate_conv_subnet24'
  end;
end $$;

-- The counters that `plan` names, with the start of their period.
create function cap_counts(conv_ts timestamptz, caps jsonb, timezone text)
returns table (cap text, bucket_start timestamptz, "limit" numeric, add numeric, alert boolean) language sql stable as $$
  select l.cap, cap_bucket_start(l.period, conv_ts, timezone), l."limit", l.add, l.alert
  from jsonb_to_recordset(caps) as l(cap text, period text, "limit" numeric, add numeric, alert boolean)
$$;

-- History is only ever written beside its conversion, which is never deleted: checking that once more for every row costs a
-- look-up and a lock each.
alter table conversion_history drop constraint conversion_history_conversion_id_fkey;

drop function check_caps(jsonb);
drop function count_caps(jsonb);
drop function try_conversion(jsonb, jsonb);
drop function record_conversion(jsonb, jsonb);
drop function insert_conversion(conversion);

-- Makes and locks every counter of a batch, in one order. Missing ones are made first and only then are all of them locked: no
-- two transactions can wait for each other (P17).
create function lock_caps(batch jsonb) returns void language plpgsql as $$
declare
  wanted text[];
  starts timestamptz[];
begin
  select array_agg(w.cap), array_agg(w.bucket_start) into wanted, starts
  from (select distinct k.cap, k.bucket_start
        from jsonb_array_elements(batch) as i(item),
             cap_counts((i.item #>> '{row,conv_ts}')::timestamptz, i.item #> '{plan,caps}', i.item #>> '{plan,timezone}') k
       ) w;
  if wanted is null then
    return;
  end if;
  insert into cap_counter (cap, bucket_start)
  select w.cap, w.bucket_start from unnest(wanted, starts) as w(cap, bucket_start)
  where not exists (select from cap_counter c where c.cap = w.cap and c.bucket_start = w.bucket_start)
  order by w.cap, w.bucket_start
  on conflict do nothing;
  perform from cap_counter c
  where (c.cap, c.bucket_start) in (select w.cap, w.bucket_start from unnest(wanted, starts) as w(cap, bucket_start))
  order by c.cap, c.bucket_start
  for update;
end $$;

-- Judges by the caps, whose counters are locked: 'exceeded' when one is reached or would be passed, 'alert' when only alert-only
-- ones are, else 'free'.
create function check_caps(conv_ts timestamptz, caps jsonb, timezone text) returns text language plpgsql as $$
declare
  found_counters integer;
  exceeded boolean;
  alerted boolean;
begin
  select count(*),
         bool_or(not k.alert and (c.used >= k."limit" or c.used + k.add > k."limit")),
         bool_or(k.alert and (c.used >= k."limit" or c.used + k.add > k."limit"))
  into found_counters, exceeded, alerted
  from cap_counts(conv_ts, caps, timezone) k
  join cap_counter c on c.cap = k.cap and c.bucket_start = k.bucket_start;
  if found_counters <> jsonb_array_length(caps) then
    raise exception 'a cap counter went away' using errcode = 'serialization_failure';
  end if;
  return case when exceeded then 'exceeded' when alerted then 'alert' else 'free' end;
end $$;

create function count_caps(conv_ts timestamptz, caps jsonb, timezone text) returns void language sql as $$
  update cap_counter c set used = c.used + k.add
  from cap_counts(conv_ts, caps, timezone) k
  where c.cap = k.cap and c.bucket_start = k.bucket_start
$$;

-- Records a new conversion, judged by the caller up to what only the tables know: whether it is a repeat, how many its address
-- brought, and its caps. The caller holds the locks of lock_conversions.
--
-- `plan`: on_txid and on_click say what a row found that way makes of this one ('duplicate', 'existing' or 'conflict'); on_none
-- is 'insert', or 'none' where only a change of an existing row is taken; caps are [{cap, period, limit, add, alert}].
-- Answers {outcome: 'recorded', id, status, status_reason, is_duplicate}, {outcome: 'existing', found_by, row} with nothing
-- written, {outcome: 'conflict'} or {outcome: 'none'}. The unique indexes decide in the end (P16).
create function record_conversion(input jsonb, plan conversion_plan) returns jsonb language plpgsql as $$
declare
  given conversion := jsonb_populate_record(null::conversion, input);
  c conversion;
  nothing conversion;
  hit record;
  reaction text;
  capped text;
  is_counted boolean;
  -- Nothing but the indexes has a say: then they are asked by the insert itself.
  is_plain boolean := plan.on_none = 'insert' and plan.caps = '[]' and plan.address_limit is null and not plan.may_be_multiple;
begin
  given.version := 1;
  given.created_at := clock_timestamp();
  given.updated_at := given.created_at;
  for attempt in 1..3 loop
    c := given;
    is_counted := false;
    if not is_plain or attempt > 1 then
      select f.found_row as found_row, f.found_by as found_by into hit from find_conversion(c, plan.latest_of_click) f;
      if hit.found_by is not null then
        reaction := case hit.found_by when 'txid' then plan.on_txid else plan.on_click end;
        -- Another order of the same click is another report, never a change of the first (G106).
        if hit.found_by = 'click' and reaction = 'existing'
           and c.adv_txid is not null and c.adv_txid is distinct from (hit.found_row).adv_txid then
          reaction := 'duplicate';
        end if;
        if reaction = 'existing' then
          return jsonb_build_object('outcome', 'existing', 'found_by', hit.found_by, 'row', conversion_state(hit.found_row));
        elsif reaction = 'conflict' then
          return jsonb_build_object('outcome', 'conflict');
        elsif plan.on_none = 'none' then
          return jsonb_build_object('outcome', 'none');
        end if;
        c.status := 'rejected';
        c.status_reason := 'duplicate';
        c.is_duplicate := true;
        c.hold_until := null;
        c.holds_click := false;
        c.holds_txid := false;
      elsif plan.on_none = 'none' then
        return jsonb_build_object('outcome', 'none');
      else
        -- The order of G96: addresses, the caller's reject rules (already in the row), caps.
        if plan.address_limit is not null then
          reaction := address_check(c, plan.address_limit);
          if reaction is not null then
            c.status := 'rejected';
            c.status_reason := reaction;
            c.hold_until := null;
          end if;
        end if;
        is_counted := plan.caps <> '[]' and (plan.address_limit is null or reaction is null);
        if is_counted then
          capped := check_caps(c.conv_ts, plan.caps, plan.timezone);
          if capped = 'exceeded' then
            c.status := 'rejected';
            c.status_reason := 'cap_exceeded';
            c.hold_until := null;
          elsif capped = 'alert' then
            c.cap_alert := true;
          end if;
        end if;
        if c.status_reason = '' and plan.may_be_multiple and exists (
             select from conversion t
             where t.click_id = c.click_id and t.event_code = c.event_code and not t.is_duplicate) then
          c.status_reason := 'multiple';
        end if;
      end if;
    end if;
    insert into conversion values (c.*) on conflict do nothing;
    if found then
      if c.status <> 'rejected' then
        if is_counted then
          perform count_caps(c.conv_ts, plan.caps, plan.timezone);
        end if;
        if plan.address_limit is not null then
          insert into conversion_address (offer_id, network, address, conv_ts, conversion_id)
          values (c.offer_id, network_of((plan.address_limit ->> 'address')::inet), (plan.address_limit ->> 'address')::inet,
            c.conv_ts, c.id);
        end if;
      end if;
      perform after_conversion_change(nothing, c, plan.actor, plan.key_id);
      return jsonb_build_object('outcome', 'recorded', 'id', c.id, 'status', c.status, 'status_reason', c.status_reason,
        'is_duplicate', c.is_duplicate);
    end if;
    -- Somebody else has the place and is visible now: judge again with it in sight.
  end loop;
  raise exception 'the place of a conversion changed hands too often' using errcode = 'serialization_failure';
end $$;

-- Everything two conversions can contend for, locked in one order before the first row of a batch is written: clicks, orders and
-- networks by advisory locks, then the counters. Batches therefore wait for each other in a line and never in a ring (P17).
create function lock_conversions(batch jsonb) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(k.key)
  from (
    select hashtextextended(r.click_id || ' ' || r.event_code, 7265002) as key
    from jsonb_to_recordset(batch) as i("row" jsonb), jsonb_to_record(i."row") as r(click_id text, event_code text)
    where r.click_id is not null
    union
    select hashtextextended(r.offer_id || ' ' || r.adv_txid, 7265003)
    from jsonb_to_recordset(batch) as i("row" jsonb), jsonb_to_record(i."row") as r(offer_id integer, adv_txid text)
    where r.adv_txid is not null
    union
    select hashtextextended((i.item #>> '{row,offer_id}') || ' ' || network_of((i.item #>> '{plan,address_limit,address}')::inet), 7265004)
    from jsonb_array_elements(batch) as i(item)
    where i.item #>> '{plan,address_limit,address}' is not null
    order by key
  ) k;
  perform lock_caps(batch);
end $$;

-- Records every {row, plan} of `batch` in one transaction, in their order; answers their outcomes in the same order. An error
-- leaves nothing of the batch behind: the caller repeats its rows one by one.
create function record_conversions(batch jsonb) returns jsonb language plpgsql as $$
declare
  item jsonb;
  outcomes jsonb := '[]';
begin
  perform lock_conversions(batch);
  for item in select i.item from jsonb_array_elements(batch) as i(item) loop
    outcomes := outcomes || jsonb_build_array(
      record_conversion(item -> 'row', jsonb_populate_record(null::conversion_plan, item -> 'plan')));
  end loop;
  return outcomes;
end $$;

-- What record_conversions would answer for one row now, with nothing stored: the block takes back all it did.
create function try_conversion(input jsonb, plan jsonb) returns jsonb language plpgsql as $$
declare
  answer jsonb;
begin
  begin
    answer := record_conversions(jsonb_build_array(jsonb_build_object('row', input, 'plan', plan))) -> 0;
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $$;

-- The right to do a task of the scheduler, and when it was last done. Tasks are safe to do twice; the lease spares the work.
create table schedule_task (
  name text primary key,
  owner text not null default '',
  expires_at timestamptz(3) not null default '-infinity',
  done_at timestamptz(3) not null default '-infinity'
);

-- Approves the conversions whose hold is over by the clock of this server, the earliest first, at most `rows_max` of them (G98).
-- A row that another session holds is left to it. Whoever asks at the same time finds other rows: each is released once (P18).
create function release_due_holds(rows_max integer) returns integer language plpgsql as $$
declare
  held record;
  before conversion;
  after conversion;
  released integer := 0;
begin
  for held in
    select t as state from conversion t
    where t.hold_until <= clock_timestamp() and t.status = 'pending'
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

-- For retention: rows lie in the order of their time.
create index postback_log_age on postback_log using brin (ts);
create index audit_log_age on audit_log using brin (ts);
create index conversion_address_age on conversion_address using brin (conv_ts);
