-- What is told to others when something changes: written in the transaction of the change, sent by the delivery lane.

-- Outgoing partner postbacks (section 2.10). Read by the transaction that changes a conversion, and so in force at once.
create table postback (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Null fires for every partner.
  affiliate_id integer references affiliate,
  offer_id integer not null references offer,
  -- Null fires for every event that is not private.
  event_code text,
  kind text not null default 's2s' check (kind in ('s2s', 'html', 'capi')),
  method text not null default 'GET' check (method in ('GET', 'POST')),
  url text not null,
  body text not null default '',
  fire_on text not null default 'approved' check (fire_on in ('approved', 'any', 'reversal')),
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  -- Why the service has disabled it.
  disabled_reason text not null default '',
  -- Deliveries that failed for good since the last one that arrived.
  failed_in_row integer not null default 0,
  created_by_affiliate boolean not null default false,
  -- What shares slots: the host and port. Where a macro is the host, all that it may become are one.
  destination text not null generated always as (
    left(coalesce(lower(substring(url from '(?i)^https?://(?:[^/?#@]*@)?([^/?#]*)')), ''), 255)) stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index postback_fires on postback (offer_id) where status = 'active';
create index postback_list on postback (workspace_id, created_at desc, id desc);

-- Whoever switches a postback on again gives it a clean slate.
create function revive_postback() returns trigger language plpgsql as $$
begin
  new.disabled_reason := '';
  new.failed_in_row := 0;
  return new;
end $$;
create trigger revive before update of status on postback
  for each row when (new.status = 'active' and old.status <> 'active') execute function revive_postback();

-- One thing to tell one endpoint. What is sent is made from the row by its kind; how it is queued, leased, repeated and logged
-- is the same for all kinds.
create table delivery (
  id uuid primary key default gen_random_uuid(),
  workspace_id integer not null,
  kind text not null check (kind in ('postback', 'webhook')),
  -- Of the kind's own table.
  endpoint_id integer not null,
  -- What shares slots: one destination that hangs takes no others'.
  destination text not null,
  conversion_id uuid,
  -- Of postbacks: 'approved', 'pending', 'rejected', 'reversal'.
  trigger text not null default '',
  -- Of webhooks.
  event text not null default '',
  event_id uuid,
  -- What may be different by the time it is sent, as it was in the transaction of the change (T10).
  facts jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'retrying', 'failed')),
  attempts integer not null default 0,
  -- When it is sent next, or, while `lease_token` is set, when its worker is given up. Null once it has ended.
  due_at timestamptz(3) default clock_timestamp(),
  lease_token uuid,
  -- Of the last attempt.
  url text not null default '',
  error text not null default '',
  response_status integer,
  response_body text not null default '',
  created_at timestamptz(3) not null default clock_timestamp(),
  finished_at timestamptz(3)
) with (autovacuum_vacuum_scale_factor = 0.02);
-- The queue: small whatever the log behind it holds.
create index delivery_due on delivery (destination, due_at) where due_at is not null;
create index delivery_list on delivery (kind, endpoint_id, created_at desc, id desc);
create index delivery_finished on delivery (finished_at) where finished_at is not null;

-- Once per conversion, postback and trigger (T09), longer than the delivery itself is kept.
create table postback_firing (
  conversion_id uuid not null,
  postback_id integer not null,
  trigger text not null,
  delivery_id uuid not null,
  primary key (conversion_id, postback_id, trigger)
);

-- What a partner gets for a conversion in this state.
create function earned(c conversion) returns numeric language sql immutable as $$
  select case when c.status = 'approved' then c.payout else 0 end
$$;

-- The postbacks that a change fires (G122); `before` is null for a new conversion. Private events and duplicates fire none.
create function queue_postbacks(before conversion, after conversion) returns void language plpgsql as $$
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
    select p.id, p.destination, case p.fire_on when 'reversal' then 'reversal' else after.status end as trigger
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
      insert into delivery (id, workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts)
      values (queued, after.workspace_id, 'postback', due.id, due.destination, after.id, due.trigger, change);
    else
      -- One that was held back because the conversion was rejected has not fired: now it may. The lock comes first, so that a
      -- worker that is just holding it back has either done so or will look at the conversion after us.
      queued := (select f.delivery_id from postback_firing f
        where f.conversion_id = after.id and f.postback_id = due.id and f.trigger = due.trigger);
      perform from delivery d where d.id = queued for update;
      update delivery d
      set status = 'pending', error = '', due_at = clock_timestamp(), finished_at = null, facts = change
      where d.id = queued and d.status = 'failed' and d.error = 'conversion rejected';
    end if;
  end loop;
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
end $$;

-- Whether a delivery that failed for good disables its endpoint: 25 in a row do (G126).
create function count_endpoint_outcome(of_kind text, of_endpoint integer, is_delivered boolean, last_error text)
returns boolean language plpgsql as $$
declare
  is_disabled boolean := false;
begin
  if of_kind = 'postback' and is_delivered then
    -- Mostly there is nothing to forget, and then nothing is written.
    update postback p set failed_in_row = 0 where p.id = of_endpoint and p.failed_in_row > 0;
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
  end if;
  return coalesce(is_disabled, false);
end $$;

-- Records what came of an attempt, for the worker that still holds the lease; 'stale' for any other, which changes nothing.
-- `result` is {status, url, error, response_status, response_body, retry_in_ms, is_sent, is_endpoints_fault}. 'disabled' says
-- that the endpoint is disabled from now on, 'due' that what was to be held back is to be sent after all; else 'settled'.
create function settle_delivery(of_id uuid, token uuid, result jsonb) returns text language plpgsql as $$
declare
  held delivery := (select d from delivery d where d.id = of_id and d.lease_token = token for update);
  is_final boolean := result ->> 'status' <> 'retrying';
begin
  if held.id is null then
    return 'stale';
  end if;
  if result ->> 'error' = 'conversion rejected' and exists (
       select from conversion c where c.id = held.conversion_id and c.status <> 'rejected' and not c.is_duplicate) then
    update delivery d set due_at = clock_timestamp(), lease_token = null, attempts = d.attempts - 1 where d.id = of_id;
    return 'due';
  end if;
  update delivery d
  set status = result ->> 'status',
      url = result ->> 'url',
      error = result ->> 'error',
      response_status = (result ->> 'response_status')::integer,
      response_body = result ->> 'response_body',
      attempts = d.attempts - case when (result ->> 'is_sent')::boolean then 0 else 1 end,
      due_at = case when is_final then null
        else clock_timestamp() + (result ->> 'retry_in_ms')::bigint * interval '1 millisecond' end,
      finished_at = case when is_final then clock_timestamp() end,
      lease_token = null
  where d.id = of_id;
  if is_final and (result ->> 'status' = 'delivered' or (result ->> 'is_endpoints_fault')::boolean)
     and count_endpoint_outcome(held.kind, held.endpoint_id, result ->> 'status' = 'delivered', result ->> 'error') then
    return 'disabled';
  end if;
  return 'settled';
end $$;
