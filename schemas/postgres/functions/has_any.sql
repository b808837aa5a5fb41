-- Whether a text contains one of `parts`.
create or replace function has_any(content text, parts text[]) returns boolean language sql immutable strict as $$
  select exists (select from unnest(parts) part where part <> '' and position(part in content) > 0)
$$;
