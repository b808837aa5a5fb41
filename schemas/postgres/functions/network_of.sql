-- The /24 of an address, or the /48 of IPv6.
create or replace function network_of(address inet) returns inet language sql immutable as $$
  select host(network(set_masklen(address, case family(address) when 4 then 24 else 48 end)))::inet
$$;
