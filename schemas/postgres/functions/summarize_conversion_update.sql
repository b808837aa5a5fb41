-- Counts the rows of an update by outcome, and adds up what its conversions earn and charge before and after it, by partner and currency: the partners
-- with the largest difference first, at most 500 of them.
create or replace function summarize_conversion_update(of_update integer, out counts jsonb, out sums jsonb) stable language plpgsql as $$
begin
  counts := (select coalesce(jsonb_object_agg(o.outcome, o.rows), '{}')
    from (select r.outcome, count(*) as rows from conversion_update_row r
          where r.update_id = of_update and r.outcome is not null group by r.outcome
          union all
          select 'missing', count(*) from conversion_update_row r where r.update_id = of_update and r.is_missing having count(*) > 0) o);
  sums := (select coalesce(jsonb_agg(jsonb_build_object('affiliate_id', s.affiliate_id, 'currency', s.currency, 'rows', s.rows,
      'payout_before', s.payout_before::text, 'payout_after', s.payout_after::text,
      'revenue_before', s.revenue_before::text, 'revenue_after', s.revenue_after::text)
      order by abs(s.payout_after - s.payout_before) desc, s.affiliate_id, s.currency), '[]')
    from (
      select r.affiliate_id, r.currency, count(*) as rows,
        sum((r.before ->> 'earned')::numeric(18, 4)) as payout_before, sum((r.after ->> 'earned')::numeric(18, 4)) as payout_after,
        sum((r.before ->> 'charged')::numeric(18, 4)) as revenue_before, sum((r.after ->> 'charged')::numeric(18, 4)) as revenue_after
      from conversion_update_row r
      where r.update_id = of_update and r.outcome in ('changed', 'unchanged')
      group by r.affiliate_id, r.currency
      order by abs(sum((r.after ->> 'earned')::numeric) - sum((r.before ->> 'earned')::numeric)) desc
      limit 500) s);
end $$;
