-- Parameters with empty values under `names` (lower case), and in place of `personal` values under any name.
create or replace function without_person(params jsonb, names text[], personal text[]) returns jsonb
language sql immutable strict as $$
  select coalesce(jsonb_object_agg(p.key, case
    when lower(p.key) = any(names) or p.value #>> '{}' = any(personal) then '""'::jsonb else p.value end), '{}')
  from jsonb_each(params) p
$$;
