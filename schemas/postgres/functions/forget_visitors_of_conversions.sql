-- Clears what at most `rows_max` conversions older than `keep_days` know of their visitors. Status, money and what reports split
-- by stay. The fingerprints of reports go too: with the secret of the installation a person's values could be guessed from them.
-- Returns how many it changed.
create or replace function forget_visitors_of_conversions(keep_days integer, rows_max integer) returns integer language plpgsql as $$
declare
  changed integer;
begin
  update conversion c
  set conv_ip = null, email_hash = null, phone_hash = null, report_fingerprint = null, change_fingerprint = null,
      click = c.click - array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid']
  where c.id = any(array(
    select o.id from conversion o
    where o.conv_ts < now() - keep_days * interval '1 day'
      and (o.conv_ip is not null or o.email_hash is not null or o.phone_hash is not null
        or o.click ?| array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid'])
    order by o.conv_ts limit rows_max for update skip locked));
  get diagnostics changed = row_count;
  return changed;
end $$;
