-- Takes a free place and returns its number; null when there is none, or when another process took the same one at this moment.
create or replace function take_report_place(wanted_kind text, wanted_holder integer, places integer, wanted_owner uuid, lease_ms integer)
returns smallint language sql volatile as $$
  insert into report_place as r (kind, holder, place, owner, expires_at)
  select wanted_kind, wanted_holder, p.number, wanted_owner, now() + lease_ms * interval '1 millisecond'
  from generate_series(1, places) as p(number)
  where not exists (select from report_place t
    where t.kind = wanted_kind and t.holder = wanted_holder and t.place = p.number and t.expires_at >= now())
  order by p.number limit 1
  on conflict (kind, holder, place) do update set owner = excluded.owner, expires_at = excluded.expires_at
    where r.expires_at < now()
  returning r.place
$$;
