-- Whether money of a conversion that was posted since is on a statement that the staff have approved.
create or replace function is_on_approved_statement(of_conversion uuid, since timestamptz) returns boolean stable language sql as $$
  select exists (
    select from ledger_entry e
    join statement s on s.account_id = e.account_id and e.seq > s.from_seq and e.seq <= s.to_seq
    where e.conversion_id = of_conversion and e.posted_at >= since and s.status in ('approved', 'in_payout', 'paid'))
$$;
