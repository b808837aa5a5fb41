-- The conversions with money that was posted since and is on a statement that the staff have approved.
create or replace function conversions_on_approved_statements(conversions uuid[], since timestamptz) returns setof uuid stable language sql as $$
  select distinct e.conversion_id from ledger_entry e
  join statement s on s.account_id = e.account_id and e.seq > s.from_seq and e.seq <= s.to_seq
  where e.conversion_id = any (conversions) and e.posted_at >= since and s.status in ('approved', 'in_payout', 'paid')
$$;
