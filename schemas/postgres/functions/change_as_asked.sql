-- Brings a conversion, which the caller has locked, to the state that conversion_as_asked has found; false when it is already in that state.
create or replace function change_as_asked(before conversion, after conversion, asked jsonb, by_key integer) returns boolean language plpgsql as $$
begin
  if (after.status, after.status_reason, after.notes, after.sale_amount, after.payout, after.revenue)
     = (before.status, before.status_reason, before.notes, before.sale_amount, before.payout, before.revenue) then
    return false;
  end if;
  return change_conversion(before.id, before.version, asked || jsonb_build_object('status_reason', after.status_reason, 'payout', after.payout,
    'revenue', after.revenue, 'payout_given', after.payout_given, 'revenue_given', after.revenue_given), 'api', by_key);
end $$;
