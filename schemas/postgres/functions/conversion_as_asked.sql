-- The state of a conversion after what staff ask for: {status, status_reason, notes, sale_amount, payout, revenue}, each only if it is present. An amount
-- that is given is final. A new sale amount computes the percentages again by the terms that the conversion was recorded with (G108). A reason alone
-- changes nothing: without a status it belongs to a change of amounts.
create or replace function conversion_as_asked(c conversion, asked jsonb) returns conversion stable language plpgsql as $$
declare
  after conversion := jsonb_populate_record(c, asked);
begin
  if asked ? 'sale_amount' and not asked ? 'payout' and not c.payout_given and c.payout_type = 'cps' then
    after.payout := round(after.sale_amount * c.payout_rate / 100, 4);
  end if;
  if asked ? 'sale_amount' and not asked ? 'revenue' and not c.revenue_given and c.revenue_type = 'rps' then
    after.revenue := round(after.sale_amount * c.revenue_rate / 100, 4);
  end if;
  after.payout_given := c.payout_given or asked ? 'payout';
  after.revenue_given := c.revenue_given or asked ? 'revenue';
  if not asked ? 'status' and (after.sale_amount, after.payout, after.revenue) = (c.sale_amount, c.payout, c.revenue) then
    after.status_reason := c.status_reason;
  end if;
  return after;
end $$;
