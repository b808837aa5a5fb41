-- The end of a partition's range; null for the one without a range.
create or replace function end_of_partition(of_table regclass) returns timestamptz language sql stable as $$
  select (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz
  from pg_class c where c.oid = of_table
$$;
