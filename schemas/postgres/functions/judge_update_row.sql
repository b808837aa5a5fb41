-- What a row of a file makes of a conversion now: the state after it, or faults by field. A row without a reason gives none to a conversion whose status
-- and amounts stay, so that a file sent again changes nothing.
create or replace function judge_update_row(c conversion, fields jsonb, out asked jsonb, out after conversion, out faults jsonb) stable language plpgsql as $$
begin
  faults := '{}';
  after := c;
  if fields ? 'currency' and fields ->> 'currency' <> c.currency then
    faults := jsonb_build_object('currency', 'the conversion is in ' || c.currency);
    return;
  end if;
  asked := jsonb_strip_nulls(jsonb_build_object('status', fields -> 'status', 'sale_amount', fields -> 'sale_amount', 'payout', fields -> 'payout',
    'revenue', fields -> 'revenue', 'notes', fields -> 'note', 'status_reason', fields -> 'reason'));
  if c.is_duplicate then
    if asked ?| array['sale_amount', 'payout', 'revenue'] or asked ->> 'status' <> 'rejected' then
      faults := '{"conversion_id": "duplicates can only be rejected"}';
      return;
    end if;
  end if;
  if asked ->> 'status' = c.status and not asked ? 'status_reason' then
    asked := asked - 'status';
  end if;
  if not asked ? 'status_reason' then
    asked := asked || '{"status_reason": "manual"}';
  end if;
  after := conversion_as_asked(c, asked);
end $$;
