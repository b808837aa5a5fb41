-- Records a new conversion, judged by the caller up to what only the tables know: whether it is a repeat, how many its address
-- brought, and its caps. The caller holds the locks of lock_conversions.
--
-- `plan`: on_txid and on_click say what a row found that way makes of this one ('duplicate', 'existing' or 'conflict'); on_none
-- is 'insert', or 'none' where only a change of an existing row is taken; caps are [{cap, period, limit, add, alert}].
-- Answers {outcome: 'recorded', id, status, status_reason, is_duplicate}, {outcome: 'existing', found_by, row} with nothing
-- written, {outcome: 'conflict'} or {outcome: 'none'}. The unique indexes decide in the end (P16).
--
-- A report that names a status and equals the one that made or last changed a conversion of its click and event is about that
-- conversion, even if it is a duplicate or no longer the newest: {outcome: 'existing'}.
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
  other_event text;
begin
  -- A processor of an earlier release does not know the column.
  given.holds_event_txid := coalesce(given.holds_event_txid, false);
  is_plain := is_plain and (given.adv_txid is null or not (given.holds_event_txid or exists (
    select from event_order e where e.offer_id = given.offer_id and e.adv_txid = given.adv_txid)));
  given.version := 1;
  given.created_at := clock_timestamp();
  given.updated_at := given.created_at;
  for attempt in 1..3 loop
    c := given;
    is_counted := false;
    other_event := null;
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
        -- One event never changes the conversion of another one, even if both have the order number (G220).
        if hit.found_by = 'txid' and (hit.found_row).event_code <> c.event_code then
          other_event := (hit.found_row).event_code;
          if reaction = 'existing' and plan.names_event then
            reaction := 'duplicate';
          end if;
        end if;
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
        c.holds_event_txid := false;
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
    if c.holds_event_txid then
      insert into event_order (offer_id, adv_txid, event_code, conversion_id)
      values (c.offer_id, c.adv_txid, c.event_code, c.id) on conflict do nothing;
      continue when not found;
    end if;
    insert into conversion values (c.*) on conflict do nothing;
    if not found and c.holds_event_txid then
      delete from event_order e where e.conversion_id = c.id and e.offer_id = c.offer_id and e.adv_txid = c.adv_txid;
      -- FOUND is of the last statement: the place of the conversion is still taken.
      continue;
    end if;
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
        'is_duplicate', c.is_duplicate) || case when other_event is null then '{}' else jsonb_build_object('details',
          jsonb_build_object('reason', 'txid ' || c.adv_txid || ' is a conversion of the event ' || other_event
            || ': on this offer an order is one conversion (txid_scope)')) end;
    end if;
    -- Somebody else has the place and is visible now: judge again with it in sight.
  end loop;
  raise exception 'the place of a conversion changed hands too often' using errcode = 'serialization_failure';
end $$;
