-- Repeated reports change nothing (G198). A report is recognised by a fingerprint of its parameters.

alter table conversion
  -- Of the report that made this row, and of the last one that changed it. Keyed, so that no personal value can be guessed from it
  -- without the secret of the installation. Null where no report did, and for rows made before this migration.
  add column report_fingerprint bytea,
  add column change_fingerprint bytea,
  -- The status that the last of these reports named; null for none.
  add column asked_status text check (asked_status in ('approved', 'pending', 'rejected'));

create or replace function conversion_state(c conversion) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', c.id, 'workspace_id', c.workspace_id, 'offer_id', c.offer_id, 'advertiser_id',
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

-- As in migration 0005, and: a report that names a status and equals the one that made or last changed a conversion of its click
-- and event is about that conversion, even if it is a duplicate or no longer the newest. {outcome: 'existing'} then.
create or replace function record_conversion(input jsonb, plan conversion_plan) returns jsonb language plpgsql as $$
declare
  given conversion := jsonb_populate_record(null::conversion, input);
  c conversion;
  nothing conversion;
  repeated conversion;
  hit record;
  reaction text;
  capped text;
  is_counted boolean;
  may_repeat boolean := plan.on_click = 'existing' and given.report_fingerprint is not null and given.click_id is not null;
  -- Nothing but the indexes has a say: then they are asked by the insert itself.
  is_plain boolean := plan.on_none = 'insert' and plan.caps = '[]' and plan.address_limit is null and not plan.may_be_multiple
    and not may_repeat;
begin
  given.version := 1;
  given.created_at := clock_timestamp();
  given.updated_at := given.created_at;
  for attempt in 1..3 loop
    c := given;
    is_counted := false;
    if may_repeat then
      repeated := (select t from conversion t
        where t.click_id = c.click_id and t.event_code = c.event_code
          and c.report_fingerprint in (t.report_fingerprint, t.change_fingerprint)
        order by t.is_duplicate, t.conv_ts desc, t.id desc limit 1);
      if repeated.id is not null then
        return jsonb_build_object('outcome', 'existing', 'found_by', 'report', 'row', conversion_state(repeated));
      end if;
    end if;
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

-- As in migration 0004; `change` may also bring cap_alert, change_fingerprint and asked_status.
create or replace function change_conversion(conversion_id uuid, from_version integer, change jsonb, actor text, key_id integer)
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
      notes = after.notes, hold_until = after.hold_until, cap_alert = after.cap_alert,
      change_fingerprint = after.change_fingerprint, asked_status = after.asked_status, version = after.version,
      updated_at = after.updated_at
  where t.id = conversion_id;
  perform after_conversion_change(before, after, actor, key_id);
  return true;
end $$;

-- Applies the change that a later report asks for (see change_conversion). A rejected conversion that becomes approved or pending
-- counts in the caps of this moment, unless it counted before: a rejection gives no place back, so it still has its own. Over a cap
-- it stays rejected as `cap_exceeded`. The row is locked before the counters, and nobody who holds counters waits for a row (P17).
--
-- `caps` is [{cap, period, limit, add, alert}]. Answers {outcome: 'stale'} when the row is no longer at `from_version`: decide
-- again; else {outcome: 'applied' or 'capped', status, status_reason} with the row's state. A report that a cap stopped leaves no
-- fingerprint: it may be sent again when there is room.
create function change_by_report(of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
returns jsonb language plpgsql as $$
declare
  before conversion := (select t from conversion t where t.id = of_conversion for update);
  at timestamptz := clock_timestamp();
  verdict text := 'free';
begin
  if before.version is distinct from from_version then
    return jsonb_build_object('outcome', 'stale');
  end if;
  if before.status = 'rejected' and change ->> 'status' <> 'rejected' and caps <> '[]' and not exists (
       -- What staff approve passes the caps and is not counted.
       select from conversion_history h
       where h.conversion_id = of_conversion and h.to_status <> 'rejected' and (h.actor <> 'api' or h.from_status is null)) then
    perform lock_caps(jsonb_build_array(jsonb_build_object('row', jsonb_build_object('conv_ts', at),
      'plan', jsonb_build_object('caps', caps, 'timezone', timezone))));
    verdict := check_caps(at, caps, timezone);
    if verdict = 'exceeded' then
      change := change - '{change_fingerprint,asked_status}'::text[]
        || jsonb_build_object('status', 'rejected', 'status_reason', 'cap_exceeded');
    else
      perform count_caps(at, caps, timezone);
      if verdict = 'alert' then
        change := change || jsonb_build_object('cap_alert', true);
      end if;
    end if;
  end if;
  if verdict <> 'exceeded' or (before.status_reason, before.revenue, before.payout, before.sale_amount) is distinct from
       ('cap_exceeded', (change ->> 'revenue')::numeric, (change ->> 'payout')::numeric, (change ->> 'sale_amount')::numeric) then
    perform change_conversion(of_conversion, from_version, change, 'postback', null);
  end if;
  return jsonb_build_object('outcome', case verdict when 'exceeded' then 'capped' else 'applied' end,
    'status', change ->> 'status', 'status_reason', change ->> 'status_reason');
end $$;

-- What change_by_report would answer now, with nothing stored: the block takes back all it did.
create function try_change_by_report(of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
returns jsonb language plpgsql as $$
declare
  answer jsonb;
begin
  begin
    answer := change_by_report(of_conversion, from_version, change, caps, timezone);
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $$;
