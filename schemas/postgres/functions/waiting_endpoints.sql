-- Endpoints with deliveries that wait, each with the time of its earliest one, by one look-up in `delivery_queue` each. The
-- planner must not choose another way: after a large backlog it expects few rows, sorts all of them for each endpoint, and a
-- statement of 5 ms takes a second.
create or replace function waiting_endpoints() returns table (destination text, kind text, endpoint_id integer, due_at timestamptz)
language sql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off
as $$
  with recursive waiting as (
    (select d.destination, d.kind, d.endpoint_id, d.due_at from delivery d
     where d.due_at is not null order by d.destination, d.kind, d.endpoint_id, d.due_at limit 1)
    union all
    select n.destination, n.kind, n.endpoint_id, n.due_at
    from waiting w cross join lateral (
      select d.destination, d.kind, d.endpoint_id, d.due_at from delivery d
      where d.due_at is not null and (d.destination, d.kind, d.endpoint_id) > (w.destination, w.kind, w.endpoint_id)
      order by d.destination, d.kind, d.endpoint_id, d.due_at limit 1) n
  )
  select w.destination, w.kind, w.endpoint_id, w.due_at from waiting w
$$;
