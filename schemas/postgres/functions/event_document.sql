-- The document of an event as the bytes that every attempt and every retry sends; `more` is what stands beside `data`.
create or replace function event_document(event_id uuid, of_workspace integer, event_name text, data json, more jsonb)
returns text language sql stable as $$
  select format('{"id":"%s","event":"%s","workspace_id":%s,"created_at":"%s"%s,"data":%s}', event_id, event_name, of_workspace,
    iso_time(clock_timestamp()),
    (select string_agg(format(',%s:%s', to_json(m.key), m.value), '' order by m.key) from jsonb_each(more) m), data)
$$;
