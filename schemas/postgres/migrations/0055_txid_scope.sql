-- reads: 0040
-- Of what an order number is unique: of the offer, or of each of its events.
alter table offer add column txid_scope text not null default 'offer' check (txid_scope in ('offer', 'event'));
-- As `holds_txid`, on an offer whose order numbers are unique for each event: then the conversion has a row in `event_order`.
alter table conversion add column holds_event_txid boolean not null default false;
-- The order numbers of events, each once. An index of `conversion` would refuse writes of older processes.
create table event_order (
  offer_id integer not null,
  adv_txid text not null,
  event_code text not null,
  conversion_id uuid not null,
  primary key (offer_id, adv_txid, event_code)
);
-- Whether the report says which event it means.
alter type conversion_plan add attribute names_event boolean;

create or replace function find_conversion(c conversion, latest_of_click boolean, OUT found_row conversion, OUT found_by text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  if c.adv_txid is not null then
    -- Rows from before the offer's scope was changed are looked at, too. Of several events with the order, the same one is meant.
    found_row := (select t from event_order e join conversion t on t.id = e.conversion_id
      where e.offer_id = c.offer_id and e.adv_txid = c.adv_txid
        and (e.event_code = c.event_code or not c.holds_event_txid)
      order by t.event_code = c.event_code desc, t.conv_ts desc, t.id desc limit 1);
    if found_row.id is null or found_row.event_code <> c.event_code then
      found_row := coalesce((select t from conversion t
        where t.offer_id = c.offer_id and t.adv_txid = c.adv_txid and t.holds_txid
          and (t.event_code = c.event_code or not c.holds_event_txid)), found_row);
    end if;
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
end $function$;

create or replace function record_conversion(input jsonb, plan conversion_plan)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
end $function$;

create or replace function record_conversions(batch jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  item jsonb;
  outcome jsonb;
  outcomes jsonb := '[]';
begin
  perform lock_conversions(batch);
  for item in select i.item from jsonb_array_elements(batch) as i(item) loop
    outcome := null;
    if item ? 'key' then
      outcome := find_report_key(item -> 'key');
    end if;
    if outcome is null then
      outcome := record_conversion(row_without_erased(item -> 'row'),
        jsonb_populate_record(null::conversion_plan, item -> 'plan'));
      if item ? 'key' and outcome ->> 'outcome' = 'recorded' then
        perform add_report_key(item -> 'key', jsonb_build_object('taken', jsonb_build_object(
          'conversionId', outcome -> 'id', 'status', outcome -> 'status', 'reason', outcome -> 'status_reason',
          'isDuplicate', outcome -> 'is_duplicate', 'isUpdate', false, 'details',
          coalesce(item -> 'key' -> 'details', '{}') || coalesce(outcome -> 'details', '{}'))));
      end if;
      if item ? 'coupon_click' and outcome ->> 'outcome' = 'recorded' then
        insert into coupon_click (click_id, conversion_id, click, producer, until_ms)
        values (item #>> '{coupon_click,click,click_id}', (outcome ->> 'id')::uuid, item #> '{coupon_click,click}',
          (item #>> '{coupon_click,producer}')::integer, (item #>> '{coupon_click,until_ms}')::bigint);
      end if;
    end if;
    outcomes := outcomes || jsonb_build_array(outcome);
  end loop;
  return outcomes;
end $function$;

-- As before, and the scope of order numbers with the offer.
create or replace view catalog_entry_of_links as
  select 'installation' as kind, id::text as id, version,
         jsonb_build_object('id', id, 'secret', secret, 'lanes', lanes) as record from installation
  union all
  select 'workspace', id::text, version, to_jsonb(w) from workspace w
  union all
  select 'advertiser', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'status', status,
           'postback_token', postback_token, 'postback_ip_allowlist', postback_ip_allowlist, 'budget_caps', budget_caps)
    from advertiser
  union all
  select 'offer', id::text, version,
         case when deleted_at is null then
           jsonb_build_object('id', id, 'workspace_id', workspace_id, 'advertiser_id', advertiser_id, 'code', code,
             'name', name, 'status', status, 'visibility', visibility, 'destination_url', destination_url,
             'fallback_url', fallback_url, 'allowed_domains', allowed_domains, 'currency', currency,
             'revenue_type', revenue_type, 'revenue', revenue::text, 'payout_type', payout_type, 'payout', payout::text,
             'caps', caps, 'targeting', targeting, 'conversion_method', conversion_method,
             'unique_per_click', unique_per_click, 'attribution_days', attribution_days, 'default_status', default_status,
             'hold_days', trim_scale(hold_days)::text, 'min_seconds_to_conversion', min_seconds_to_conversion,
             'duplicate_click_seconds', duplicate_click_seconds, 'unique_click_hours', unique_click_hours,
             'fraud_checks', fraud_checks, 'terms', terms, 'fail_route_offer_id', fail_route_offer_id,
             'txid_scope', txid_scope)
         end
    from offer
  union all
  select 'offer_event', id::text, version,
         jsonb_build_object('id', id, 'offer_id', offer_id, 'code', code, 'name', name, 'revenue_type', revenue_type,
           'revenue', revenue::text, 'payout_type', payout_type, 'payout', payout::text, 'is_default', is_default,
           'is_private', is_private, 'allow_multiple', allow_multiple)
    from offer_event
  union all
  select 'affiliate', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'name', name, 'status', status,
           'throttle_percent', throttle_percent, 'hold_days', trim_scale(hold_days)::text)
    from affiliate
  union all
  select 'offer_access', offer_id || '-' || affiliate_id, version,
         jsonb_build_object('offer_id', offer_id, 'affiliate_id', affiliate_id, 'status', status,
           'terms_accepted', terms_accepted_at is not null)
    from offer_access
  union all
  select 'payout_override', id::text, version,
         jsonb_build_object('id', id, 'offer_id', offer_id, 'affiliate_id', affiliate_id, 'event_code', event_code,
           'payout_type', payout_type, 'payout', payout::text, 'revenue_type', revenue_type, 'revenue', revenue::text)
    from payout_override
  union all
  select 'tracking_domain', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'host', host, 'scheme', scheme, 'status', status,
           'is_default', is_default, 'certification', certification)
    from tracking_domain
  union all
  select 'link_key', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'key', key, 'offer_id', offer_id,
           'affiliate_id', affiliate_id)
    from link_key
  union all
  select 'smart_link', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'name', name, 'status', status,
           'affiliate_id', affiliate_id, 'mode', mode, 'rules', rules)
    from smart_link
  union all
  select 'traffic_source_template', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'traffic_source', traffic_source,
           'params', params, 'source_id', source_id, 'affiliate_ids', affiliate_ids)
    from traffic_source_template
  union all
  select 'traffic_control', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'status', status,
           'conditions', conditions, 'action', action, 'forward_offer_id', forward_offer_id)
    from traffic_control
  union all
  select 'blocklist_entry', id::text, version, jsonb_build_object('id', id, 'entry', entry) from blocklist_entry
  union all
  select kind, id, version, null from catalog_tombstone;
