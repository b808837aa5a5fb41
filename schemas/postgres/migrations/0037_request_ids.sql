-- reads: 0036
-- The request that caused a change goes along to the deliveries of that change: `cause` is {"request_id", "traceparent"}, or null for
-- a change that no request caused, such as the end of a hold. Functions that a release in use may call keep working as they are called.

alter table postback_log add column request_id text;
alter table delivery add column request_id text;
alter table delivery add column traceparent text;
alter type conversion_plan add attribute cause jsonb;

drop function queue_event(integer, text, json, jsonb, uuid);
drop function queue_conversion_event(conversion, conversion);
drop function queue_postbacks(conversion, conversion);
drop function after_conversion_change(conversion, conversion, text, integer);

create function queue_event(of_workspace integer, event_name text, data json, more jsonb, of_conversion uuid, cause jsonb default null)
returns void language plpgsql as $$
declare
  new_id uuid := gen_random_uuid();
  document text := event_document(new_id, of_workspace, event_name, data, more);
begin
  insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, event, event_id, facts,
    request_id, traceparent)
  select of_workspace, 'webhook', w.id, w.destination, of_conversion, event_name, new_id,
    jsonb_build_object('body', document, 'is_ordered', false), cause ->> 'request_id', cause ->> 'traceparent'
  from webhook w
  where w.workspace_id = of_workspace and w.active and event_name = any (w.events)
  order by w.id;
end $$;

create function queue_conversion_event(before conversion, after conversion, cause jsonb default null)
returns void language plpgsql as $$
declare
  event_name text := case when before.id is null then 'conversion.created' else 'conversion.updated' end;
  more jsonb := '{}';
begin
  if before.id is not null then
    if (before.status, before.revenue, before.payout, before.sale_amount)
       = (after.status, after.revenue, after.payout, after.sale_amount) then
      return;
    end if;
    more := jsonb_build_object('previous', jsonb_build_object('status', before.status, 'revenue', before.revenue::text,
      'payout', before.payout::text, 'sale_amount', before.sale_amount::text));
  end if;
  if has_subscriber(after.workspace_id, event_name) then
    perform queue_event(after.workspace_id, event_name, conversion_document(after), more, after.id, cause);
  end if;
end $$;

create function queue_postbacks(before conversion, after conversion, cause jsonb default null) returns void language plpgsql as $$
declare
  is_new_status boolean := before.status is distinct from after.status;
  is_reversal boolean := coalesce(
    before.status = 'approved' and (after.status = 'rejected' or after.payout < before.payout), false);
  due record;
  queued uuid;
  change jsonb;
begin
  if after.is_private or after.is_duplicate or not (is_new_status or is_reversal) then
    return;
  end if;
  for due in
    select p.id, p.destination, p.kind, case p.fire_on when 'reversal' then 'reversal' else after.status end as trigger
    from postback p
    where p.offer_id = after.offer_id and p.status = 'active'
      and (p.affiliate_id is null or p.affiliate_id = after.affiliate_id)
      and (p.event_code is null or p.event_code = after.event_code)
      and case p.fire_on
            when 'reversal' then is_reversal
            when 'any' then is_new_status
            else is_new_status and after.status = 'approved'
          end
    order by p.id
  loop
    change := jsonb_build_object('status', after.status, 'reason', after.status_reason, 'payout', after.payout::text,
      'sale_amount', after.sale_amount::text, 'old_status', coalesce(before.status, ''),
      'old_payout', coalesce(before.payout, 0)::numeric(18, 4)::text,
      'payout_delta', (earned(after) - coalesce(earned(before), 0))::numeric(18, 4)::text);
    queued := gen_random_uuid();
    insert into postback_firing (conversion_id, postback_id, trigger, delivery_id)
    values (after.id, due.id, due.trigger, queued)
    on conflict do nothing;
    if found then
      insert into delivery (id, workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts, due_at,
        request_id, traceparent)
      values (queued, after.workspace_id, 'postback', due.id, due.destination, after.id, due.trigger, change,
        clock_timestamp() + case
          when due.kind = 'html' and before.id is null and after.method in ('js', 'pixel') then interval '10 seconds'
          else interval '0' end,
        cause ->> 'request_id', cause ->> 'traceparent');
    else
      -- One that was held back because the conversion was rejected has not fired: now it may. The lock comes first, so that a
      -- worker that is just holding it back has either done so or will look at the conversion after us.
      queued := (select f.delivery_id from postback_firing f
        where f.conversion_id = after.id and f.postback_id = due.id and f.trigger = due.trigger);
      perform from delivery d where d.id = queued for update;
      update delivery d
      set status = 'pending', error = '', due_at = clock_timestamp(), finished_at = null, facts = change,
        request_id = cause ->> 'request_id', traceparent = cause ->> 'traceparent'
      where d.id = queued and d.status = 'failed' and d.error = 'conversion rejected';
    end if;
  end loop;
end $$;

create function after_conversion_change(before conversion, after conversion, actor text, key_id integer, cause jsonb default null)
returns void language plpgsql as $$
begin
  insert into conversion_history (conversion_id, at, actor, key_id, from_status, to_status, reason, from_revenue,
    to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
  values (after.id, clock_timestamp(), actor, key_id, before.status, after.status, after.status_reason, before.revenue,
    after.revenue, before.payout, after.payout, before.sale_amount, after.sale_amount);
  insert into conversion_fact_outbox (conversion_id) values (after.id);
  perform queue_postbacks(before, after, cause);
  perform queue_conversion_event(before, after, cause);
end $$;

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
  perform after_conversion_change(before, after, actor, key_id, change -> 'cause');
  return true;
end $$;

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
      perform after_conversion_change(nothing, c, plan.actor, plan.key_id, plan.cause);
      return jsonb_build_object('outcome', 'recorded', 'id', c.id, 'status', c.status, 'status_reason', c.status_reason,
        'is_duplicate', c.is_duplicate);
    end if;
    -- Somebody else has the place and is visible now: judge again with it in sight.
  end loop;
  raise exception 'the place of a conversion changed hands too often' using errcode = 'serialization_failure';
end $$;
