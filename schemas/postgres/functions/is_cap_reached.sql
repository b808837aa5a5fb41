-- Whether a cap is reached: nothing is left, or the cheapest fixed price does not fit into the rest. Without a fixed price (`price` is null),
-- whether a conversion was refused at this limit or a higher one. Null if `used` is not known.
create or replace function is_cap_reached(used numeric, "limit" numeric, price numeric, refused_limit numeric) returns boolean immutable language sql as $$
  select used >= "limit" or coalesce(used + price > "limit", coalesce(refused_limit >= "limit", false) and used is not null)
$$;
