-- Parameters with empty values in place of those whose keyed hash is among `erased`.
create or replace function without_hashed(params jsonb, erased text[]) returns jsonb language sql stable strict as $$
  select coalesce(jsonb_object_agg(p.key, case
    when keyed_hash(erasure_key(), p.value #>> '{}') = any(erased) then '""'::jsonb else p.value end), '{}')
  from jsonb_each(params) p
$$;
