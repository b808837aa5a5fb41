-- The postbacks that changes of conversions fire (G122), one change after the other; `before` is null for a new conversion. Private events and
-- duplicates fire none. HTML for a new conversion of a pixel waits 10 s, longer than a pixel waits for its answer: what nobody has asked for by then is
-- refused by the role `delivery` (section 7.7).
create or replace function queue_postbacks(changes conversion_change[], cause jsonb default null) returns void language plpgsql as $$
declare
  due record;
  queued uuid;
  change jsonb;
begin
  for due in
    select c.before, c.after, p.id, p.destination, p.kind, case p.fire_on when 'reversal' then 'reversal' else (c.after).status end as trigger
    from (
      select u.before, u.after, u.place, (u.before).status is distinct from (u.after).status as is_new_status,
        coalesce((u.before).status = 'approved' and ((u.after).status = 'rejected' or (u.after).payout < (u.before).payout), false) as is_reversal
      from unnest(changes) with ordinality as u(before, after, place)
      where not (u.after).is_private and not (u.after).is_duplicate) c
    cross join lateral (
      -- Four reads by index: with one condition for any of them, all postbacks of the offer were read.
      select id, destination, kind, fire_on, event_code from postback
      where offer_id = (c.after).offer_id and affiliate_id = (c.after).affiliate_id and status = 'active'
      union all
      select id, destination, kind, fire_on, event_code from postback
      where offer_id = (c.after).offer_id and affiliate_id is null and status = 'active'
      union all
      select id, destination, kind, fire_on, event_code from postback
      where offer_id is null and workspace_id = (c.after).workspace_id and affiliate_id = (c.after).affiliate_id and status = 'active'
      union all
      select id, destination, kind, fire_on, event_code from postback
      where offer_id is null and workspace_id = (c.after).workspace_id and affiliate_id is null and status = 'active') p
    where (c.is_new_status or c.is_reversal)
      and (p.event_code is null or p.event_code = (c.after).event_code)
      and case p.fire_on
            when 'reversal' then c.is_reversal
            when 'any' then c.is_new_status
            else c.is_new_status and (c.after).status = 'approved'
          end
    order by c.place, p.id
  loop
    change := jsonb_build_object('status', (due.after).status, 'reason', (due.after).status_reason, 'payout', (due.after).payout::text,
      'sale_amount', (due.after).sale_amount::text, 'old_status', coalesce((due.before).status, ''),
      'old_payout', coalesce((due.before).payout, 0)::numeric(18, 4)::text,
      'payout_delta', (earned(due.after) - coalesce(earned(due.before), 0))::numeric(18, 4)::text);
    queued := gen_random_uuid();
    insert into postback_firing (conversion_id, postback_id, trigger, delivery_id)
    values ((due.after).id, due.id, due.trigger, queued)
    on conflict do nothing;
    if found then
      insert into delivery (id, workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts, due_at,
        request_id, traceparent)
      values (queued, (due.after).workspace_id, 'postback', due.id, due.destination, (due.after).id, due.trigger, change,
        clock_timestamp() + case
          when due.kind = 'html' and (due.before).id is null and (due.after).method in ('js', 'pixel') then interval '10 seconds'
          else interval '0' end,
        cause ->> 'request_id', cause ->> 'traceparent');
    else
      -- One that was held back because the conversion was rejected has not fired: now it may. The lock comes first, so that a
      -- worker that is just holding it back has either done so or will look at the conversion after us.
      queued := (select f.delivery_id from postback_firing f
        where f.conversion_id = (due.after).id and f.postback_id = due.id and f.trigger = due.trigger);
      perform from delivery d where d.id = queued for update;
      update delivery d
      set status = 'pending', error = '', due_at = clock_timestamp(), finished_at = null, facts = change,
        request_id = cause ->> 'request_id', traceparent = cause ->> 'traceparent'
      where d.id = queued and d.status = 'failed' and d.error = 'conversion rejected';
    end if;
  end loop;
end $$;
