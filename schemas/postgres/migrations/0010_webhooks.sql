-- Webhooks (section 6.2): what happened in a workspace, told as signed documents by the delivery lane.

create table webhook (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  url text not null,
  events text[] not null,
  active boolean not null default true,
  -- The whole text is the key of the signature (G131).
  secret text not null check (secret ~ '^whsec_[0-9a-f]{48}$'),
  -- Why the service has switched it off.
  disabled_reason text not null default '',
  -- Deliveries that failed for good since the last one that arrived.
  failed_in_row integer not null default 0,
  -- What shares slots.
  destination text not null generated always as (
    left(coalesce(lower(substring(url from '(?i)^https?://(?:[^/?#@]*@)?([^/?#]*)')), ''), 255)) stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index webhook_list on webhook (workspace_id, created_at desc, id desc);
create index webhook_subscriber on webhook (workspace_id) where active;

-- Whoever switches an endpoint on again gives it a clean slate, of whichever kind it is.
alter function revive_postback() rename to revive_endpoint;
create trigger revive before update of active on webhook
  for each row when (new.active and not old.active) execute function revive_endpoint();

-- As every answer writes a time (section 2.1).
create function iso_time(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create function has_subscriber(of_workspace integer, event_name text) returns boolean language sql stable as $$
  select exists (
    select from webhook w where w.workspace_id = of_workspace and w.active and event_name = any (w.events))
$$;

-- The document of an event as the bytes that every attempt and every retry sends; `more` is what stands beside `data`.
create function event_document(event_id uuid, of_workspace integer, event_name text, data json, more jsonb)
returns text language sql stable as $$
  select format('{"id":"%s","event":"%s","workspace_id":%s,"created_at":"%s"%s,"data":%s}', event_id, event_name, of_workspace,
    iso_time(clock_timestamp()),
    (select string_agg(format(',%s:%s', to_json(m.key), m.value), '' order by m.key) from jsonb_each(more) m), data)
$$;

-- Tells every active webhook that subscribed to the event, in the transaction of what it tells of. One event has one id,
-- whoever gets it. `more` is {} or {"previous": ...}.
create function queue_event(of_workspace integer, event_name text, data json, more jsonb, of_conversion uuid)
returns void language plpgsql as $$
declare
  new_id uuid := gen_random_uuid();
  document text := event_document(new_id, of_workspace, event_name, data, more);
begin
  insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, event, event_id, facts)
  select of_workspace, 'webhook', w.id, w.destination, of_conversion, event_name, new_id,
    jsonb_build_object('body', document, 'is_ordered', false)
  from webhook w
  where w.workspace_id = of_workspace and w.active and event_name = any (w.events)
  order by w.id;
end $$;

-- What a conversion is in a document: staff money (G132), and the code of its event under the name `event` (T62).
create function conversion_document(c conversion) returns json language sql stable as $$
  select json_build_object('id', c.id, 'click_id', coalesce(c.click_id, ''), 'offer_id', c.offer_id,
    'affiliate_id', c.affiliate_id, 'advertiser_id', c.advertiser_id, 'event', c.event_code, 'status', c.status,
    'status_reason', c.status_reason, 'revenue', c.revenue::text, 'payout', c.payout::text,
    'sale_amount', c.sale_amount::text, 'currency', c.currency, 'adv_txid', coalesce(c.adv_txid, ''), 'method', c.method,
    'conv_ts', iso_time(c.conv_ts), 'click_ts', iso_time(c.click_ts), 'sub1', coalesce(c.click ->> 'sub1', ''),
    'sub2', coalesce(c.click ->> 'sub2', ''), 'sub3', coalesce(c.click ->> 'sub3', ''),
    'sub4', coalesce(c.click ->> 'sub4', ''), 'sub5', coalesce(c.click ->> 'sub5', ''),
    'source_id', coalesce(c.click ->> 'source_id', ''), 'gclid', coalesce(c.click ->> 'gclid', ''),
    'country', coalesce(c.click ->> 'country', ''), 'device_type', coalesce(c.click ->> 'device_type', ''))
$$;

-- Every stored conversion is told once as created (G133), and again when its status or its money changes; `before` is null for
-- a new one.
create function queue_conversion_event(before conversion, after conversion) returns void language plpgsql as $$
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
    perform queue_event(after.workspace_id, event_name, conversion_document(after), more, after.id);
  end if;
end $$;

create or replace function after_conversion_change(before conversion, after conversion, actor text, key_id integer)
returns void language plpgsql as $$
begin
  insert into conversion_history (conversion_id, at, actor, key_id, from_status, to_status, reason, from_revenue,
    to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
  values (after.id, clock_timestamp(), actor, key_id, before.status, after.status, after.status_reason, before.revenue,
    after.revenue, before.payout, after.payout, before.sale_amount, after.sale_amount);
  insert into conversion_fact_outbox (conversion_id) values (after.id);
  perform queue_postbacks(before, after);
  perform queue_conversion_event(before, after);
end $$;

-- Whether a delivery that failed for good disables its endpoint: 25 in a row do (G126), of both kinds.
create or replace function count_endpoint_outcome(of_kind text, of_endpoint integer, is_delivered boolean, last_error text)
returns boolean language plpgsql as $$
declare
  is_disabled boolean := false;
begin
  -- Mostly there is nothing to forget, and then nothing is written.
  if is_delivered and of_kind = 'postback' then
    update postback p set failed_in_row = 0 where p.id = of_endpoint and p.failed_in_row > 0;
  elsif is_delivered then
    update webhook w set failed_in_row = 0 where w.id = of_endpoint and w.failed_in_row > 0;
  elsif of_kind = 'postback' then
    update postback p
    set failed_in_row = p.failed_in_row + 1,
        status = case when p.failed_in_row + 1 >= 25 and p.status = 'active' then 'disabled' else p.status end,
        disabled_reason = case when p.failed_in_row + 1 >= 25 and p.status = 'active'
          then format('%s deliveries in a row failed, the last one with: %s', p.failed_in_row + 1, last_error)
          else p.disabled_reason end,
        updated_at = case when p.failed_in_row + 1 >= 25 and p.status = 'active' then clock_timestamp() else p.updated_at end
    where p.id = of_endpoint
    returning p.status = 'disabled' and p.failed_in_row = 25 into is_disabled;
  else
    update webhook w
    set failed_in_row = w.failed_in_row + 1,
        active = w.active and w.failed_in_row + 1 < 25,
        disabled_reason = case when w.failed_in_row + 1 >= 25 and w.active
          then format('%s deliveries in a row failed, the last one with: %s', w.failed_in_row + 1, last_error)
          else w.disabled_reason end,
        updated_at = case when w.failed_in_row + 1 >= 25 and w.active then clock_timestamp() else w.updated_at end
    where w.id = of_endpoint
    returning not w.active and w.disabled_reason <> '' and w.failed_in_row = 25 into is_disabled;
  end if;
  return coalesce(is_disabled, false);
end $$;
