-- reads: 0040
-- Conversions that wait for a hold although their report, or the default of their offer, left them pending: a person decides about them, and
-- not the end of the hold (G230).
do $$
declare
  waiting record;
begin
  for waiting in
    select c.id, c.version from conversion c join offer o on o.id = c.offer_id
    where c.status = 'pending' and c.hold_until is not null
      and coalesce(c.asked_status, o.default_status) = 'pending'
  loop
    perform change_conversion(waiting.id, waiting.version, '{"status_reason": "", "hold_until": null}', 'hold', null);
  end loop;
end $$;
