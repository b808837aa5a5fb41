-- Whether a delivery that failed for good disables its endpoint, of either kind: 25 in a row do (G126).
create or replace function count_endpoint_outcome(of_kind text, of_endpoint integer, is_delivered boolean, last_error text)
returns boolean language plpgsql as $$
declare
  is_disabled boolean := false;
begin
  -- Mostly there is nothing to forget, and then nothing is written.
  if is_delivered and of_kind = 'postback' then
    update postback p set failed_in_row = 0 where p.id = of_endpoint and p.failed_in_row > 0;
  elsif is_delivered then
    update webhook w set failed_in_row = 0 where w.id = of_endpoint and w.failed_in_row > 0;
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
  else
    update webhook w
    set failed_in_row = w.failed_in_row + 1,
        active = w.active and w.failed_in_row + 1 < 25,
        disabled_reason = case when w.failed_in_row + 1 >= 25 and w.active
          then format('%s deliveries in a row failed, the last one with: %s', w.failed_in_row + 1, last_error)
          else w.disabled_reason end,
        updated_at = case when w.failed_in_row + 1 >= 25 and w.active then clock_timestamp() else w.updated_at end
    where w.id = of_endpoint
    returning not w.active and w.disabled_reason <> '' and w.failed_in_row = 25 into is_disabled;
  end if;
  return coalesce(is_disabled, false);
end $$;
