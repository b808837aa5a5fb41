-- Erasures (G207), kept so that they also hold for rows that are stored later. Of an e-mail or address only keyed hashes are kept.

create table erasure (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  kind text not null check (kind in ('click', 'email', 'ip')),
  -- The click id, or keyed hashes: of an e-mail's hash, or of each form of an address.
  subject text[] not null,
  at timestamptz(3) not null default clock_timestamp(),
  repeats integer not null default 0,
  repeat_at timestamptz(3)
);
create index erasure_due on erasure (repeat_at) where repeat_at is not null;
create index erasure_recent on erasure (at);

-- Clicks of an erasure: once the e-mail's hash is cleared nothing else leads to them.
create table erased_click (
  erasure_id bigint not null references erasure,
  click_id text not null,
  primary key (erasure_id, click_id)
);

create index delivery_conversion on delivery (conversion_id) where conversion_id is not null;
create index conversion_by_ip on conversion (workspace_id, conv_ip) where conv_ip is not null;

create function keyed_hash(key text, value text) returns text language sql immutable strict as $$
  select encode(sha256(convert_to(key || ' ' || value, 'UTF8')), 'hex')
$$;

-- Parameters with empty values under `names` (lower case), and in place of `personal` values under any name.
create function without_person(params jsonb, names text[], personal text[]) returns jsonb
language sql immutable strict as $$
  select coalesce(jsonb_object_agg(p.key, case
    when lower(p.key) = any(names) or p.value #>> '{}' = any(personal) then '""'::jsonb else p.value end), '{}')
  from jsonb_each(params) p
$$;

create function has_any(content text, parts text[]) returns boolean language sql immutable strict as $$
  select exists (select from unnest(parts) part where part <> '' and position(part in content) > 0)
$$;

-- A webhook's document (conversion_document) without ad-platform click ids; every other byte stays as it was.
create function without_ad_ids(document text) returns text language sql immutable strict as $$
  select regexp_replace(document, '("(?:gclid|gbraid|wbraid|msclkid|fbclid|ttclid)"\s*:\s*)"(?:[^"\\]|\\.)+"', '\1""', 'g')
$$;
