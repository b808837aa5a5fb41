-- Until now an override without event_code replaced the terms of every event of its offer. From now on it is for the default event, and
-- `*` is for all events that have the same type (G199). Overrides made before keep what they did, except that a percentage no longer
-- replaces the amount of another event, nor an amount a percentage.

-- The default event has another type than the override: the override stays with it, and other events of the override's type get a copy.
insert into payout_override (workspace_id, offer_id, affiliate_id, event_code, payout_type, payout, revenue_type, revenue)
select p.workspace_id, p.offer_id, p.affiliate_id, '*', p.payout_type, p.payout, p.revenue_type, p.revenue
from payout_override p
join offer_event d on d.offer_id = p.offer_id and d.is_default
where p.event_code is null
  and (p.payout_type <> d.payout_type or p.revenue_type <> d.revenue_type)
  and exists (select from offer_event e
    where e.offer_id = p.offer_id and not e.is_default
      and (e.payout_type = p.payout_type or e.revenue_type = p.revenue_type))
on conflict do nothing;

-- The default event has the same type: one override is for all of them.
update payout_override p
set event_code = '*', updated_at = clock_timestamp()
from offer_event d
where d.offer_id = p.offer_id and d.is_default and p.event_code is null
  and coalesce(p.payout_type = d.payout_type, true) and coalesce(p.revenue_type = d.revenue_type, true);
