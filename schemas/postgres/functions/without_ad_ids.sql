-- A webhook's document (conversion_document) without ad-platform click ids; every other byte stays as it was.
create or replace function without_ad_ids(document text) returns text language sql immutable strict as $$
  select regexp_replace(document, '("(?:gclid|gbraid|wbraid|msclkid|fbclid|ttclid)"\s*:\s*)"(?:[^"\\]|\\.)+"', '\1""', 'g')
$$;
