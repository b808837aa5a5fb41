-- The postbacks that a change fires (G122); `before` is null for a new conversion. Private events and duplicates fire none.
-- HTML for a new conversion of a pixel waits 10 s, longer than a pixel waits for its answer: what nobody has asked for by then is
-- refused by the role `delivery` (section 7.7).
create or replace function queue_postbacks(before conversion, after conversion, cause jsonb default null) returns void language plpgsql as $$
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
    from (
      -- Two reads by index: with a condition for either, all postbacks were read.
      select id, destination, kind, fire_on, event_code, affiliate_id from postback
      where offer_id = after.offer_id and status = 'active'
      union all
      select id, destination, kind, fire_on, event_code, affiliate_id from postback
      where offer_id is null and workspace_id = after.workspace_id and status = 'active') p
    where (p.affiliate_id is null or p.affiliate_id = after.affiliate_id)
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
