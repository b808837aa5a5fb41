-- The check of too many conversions from one address or network that stops this one; null for none.
create or replace function address_check(c conversion, address_limit jsonb) returns text language plpgsql as $$
declare
  from_address inet := (address_limit ->> 'address')::inet;
  same integer;
  near integer;
begin
  select count(*) filter (where a.address = from_address), count(*) into same, near
  from conversion_address a
  where a.offer_id = c.offer_id and a.network = network_of(from_address)
    -- What came in beside it may carry a later time, and counts too.
    and a.conv_ts > c.conv_ts - interval '24 hours';
  return case
    when same >= (address_limit ->> 'same_max')::integer then 'fraud:duplicate_conv_ip'
    when near >= (address_limit ->> 'network_max')::integer then 'fraud:duplicate_conv_subnet24'
  end;
end $$;
