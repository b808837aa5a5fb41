-- The catalog: everything that decides what a click or a conversion becomes.
--
-- Every table of the catalog carries `version`, taken from one sequence by a trigger that holds one lock until the end of
-- the transaction. Versions therefore become visible in their order, and a reader that asks for "greater than the last one
-- I saw" misses nothing. Deleted rows leave a tombstone with a version of its own.

create sequence catalog_version;

create function next_catalog_version() returns bigint language sql as $$
  select pg_advisory_xact_lock(7265001), nextval('catalog_version');
  select currval('catalog_version');
$$;

create function stamp_catalog_row() returns trigger language plpgsql as $$
begin
  new.version := next_catalog_version();
  return new;
end $$;

create table catalog_tombstone (
  kind text not null,
  id text not null,
  version bigint not null,
  primary key (kind, id)
);
create index catalog_tombstone_version on catalog_tombstone (version);

create function bury_catalog_row() returns trigger language plpgsql as $$
begin
  insert into catalog_tombstone (kind, id, version)
  values (tg_argv[0], case when tg_argv[0] = 'offer_access'
                           then (to_jsonb(old) ->> 'offer_id') || '-' || (to_jsonb(old) ->> 'affiliate_id')
                           else to_jsonb(old) ->> 'id' end, next_catalog_version())
  on conflict (kind, id) do update set version = excluded.version;
  return old;
end $$;

-- A soft delete (G37) is an update that the feed shows as a removal.

create table installation (
  id integer primary key default 1 check (id = 1),
  secret text not null default encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex'),
  version bigint not null default 0
);

create table workspace (
  id integer primary key generated always as identity,
  slug text not null unique,
  name text not null,
  brand_name text not null default '',
  timezone text not null default 'UTC',
  currency text not null default 'USD',
  status text not null default 'active' check (status in ('active', 'inactive')),
  default_fallback_url text not null default '',
  allowed_destinations text[] not null default '{}',
  attribution_model text not null default 'last' check (attribution_model in ('last', 'first')),
  advertiser_updates boolean not null default true,
  organic_affiliate_id integer,
  email_attribution boolean not null default false,
  ip_storage text not null default 'full' check (ip_storage in ('full', 'truncated')),
  fraud_checks jsonb not null default '{}',
  forward_unknown_url text not null default '',
  postback_token text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);

create table app_user (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  email text not null default '',
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index app_user_workspace on app_user (workspace_id, id);

create table advertiser (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  status text not null default 'active' check (status in ('active', 'paused', 'inactive')),
  company text not null default '',
  contact_name text not null default '',
  email text not null default '',
  phone text not null default '',
  website text not null default '',
  country text not null default '',
  notes text not null default '',
  currency text not null,
  account_manager_id integer references app_user,
  billing_terms text not null default 'net30',
  tags text[] not null default '{}',
  postback_token text not null,
  postback_ip_allowlist text[] not null default '{}',
  budget_caps jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create index advertiser_list on advertiser (workspace_id, created_at desc, id desc);

create table offer (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  code text not null,
  name text not null,
  status text not null default 'active' check (status in ('active', 'paused')),
  visibility text not null default 'public' check (visibility in ('public', 'approval', 'private')),
  category text not null default '',
  description text not null default '',
  restrictions text not null default '',
  preview_url text not null default '',
  destination_url text not null,
  fallback_url text not null default '',
  allowed_domains text[] not null default '{}',
  currency text not null,
  revenue_type text not null default 'rpa' check (revenue_type in ('rpa', 'rps', 'rpc')),
  revenue numeric(18, 4) not null default 0 check (revenue >= 0),
  payout_type text not null default 'cpa' check (payout_type in ('cpa', 'cps', 'cpc')),
  payout numeric(18, 4) not null default 0 check (payout >= 0),
  caps jsonb not null default '{}',
  targeting jsonb not null default '{}',
  conversion_method text not null default 'any' check (conversion_method in ('any', 'pixel', 's2s')),
  unique_per_click boolean not null default true,
  attribution_days integer not null default 30 check (attribution_days > 0),
  default_status text not null default 'approved' check (default_status in ('approved', 'pending')),
  thumbnail_url text not null default '',
  tags text[] not null default '{}',
  is_featured boolean not null default false,
  hold_days numeric(10, 6) not null default 0 check (hold_days >= 0),
  min_seconds_to_conversion integer not null default 0 check (min_seconds_to_conversion >= 0),
  duplicate_click_seconds integer not null default 0 check (duplicate_click_seconds >= 0),
  unique_click_hours integer not null default 24 check (unique_click_hours > 0),
  fraud_checks jsonb,
  terms text,
  fail_route_offer_id integer references offer,
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create unique index offer_code on offer (workspace_id, lower(code)) where deleted_at is null;
create index offer_list on offer (workspace_id, created_at desc, id desc) where deleted_at is null;
create index offer_advertiser on offer (advertiser_id, created_at desc, id desc) where deleted_at is null;

create table offer_event (
  id integer primary key generated always as identity,
  offer_id integer not null references offer,
  code text not null,
  name text not null,
  revenue_type text not null default 'rpa' check (revenue_type in ('rpa', 'rps', 'rpc')),
  revenue numeric(18, 4) not null default 0 check (revenue >= 0),
  payout_type text not null default 'cpa' check (payout_type in ('cpa', 'cps', 'cpc')),
  payout numeric(18, 4) not null default 0 check (payout >= 0),
  is_default boolean not null default false,
  is_private boolean not null default false,
  allow_multiple boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0,
  unique (offer_id, code)
);
create unique index offer_event_default on offer_event (offer_id) where is_default;

create table affiliate (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  code text not null,
  name text not null,
  status text not null default 'active' check (status in ('active', 'pending', 'blocked', 'rejected')),
  company text not null default '',
  contact_name text not null default '',
  email text not null default '',
  phone text not null default '',
  website text not null default '',
  messenger text not null default '',
  traffic_sources text not null default '',
  notes text not null default '',
  country text not null default '',
  tier text not null default '',
  manager_id integer references app_user,
  payment_method text not null default 'other'
    check (payment_method in ('wire', 'crypto', 'other', 'wallet_a', 'wallet_b')),
  payment_details jsonb not null default '{}',
  payment_terms text not null default 'net30',
  min_payout numeric(18, 4) not null default 0,
  currency text not null,
  tags text[] not null default '{}',
  throttle_percent integer not null default 0 check (throttle_percent between 0 and 100),
  hold_days numeric(10, 6),
  approved_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create unique index affiliate_code on affiliate (workspace_id, lower(code));
create index affiliate_list on affiliate (workspace_id, created_at desc, id desc);

alter table workspace add foreign key (organic_affiliate_id) references affiliate;

create table offer_access (
  offer_id integer not null references offer,
  affiliate_id integer not null references affiliate,
  status text not null check (status in ('approved', 'pending', 'rejected')),
  note text not null default '',
  terms_accepted_at timestamptz(3),
  requested_at timestamptz(3),
  decided_at timestamptz(3),
  version bigint not null default 0,
  primary key (offer_id, affiliate_id)
);
create index offer_access_affiliate on offer_access (affiliate_id, offer_id);

create table payout_override (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  offer_id integer not null references offer,
  affiliate_id integer not null references affiliate,
  event_code text,
  payout_type text check (payout_type in ('cpa', 'cps')),
  payout numeric(18, 4) check (payout >= 0),
  revenue_type text check (revenue_type in ('rpa', 'rps')),
  revenue numeric(18, 4) check (revenue >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0,
  unique nulls not distinct (offer_id, affiliate_id, event_code)
);

create table tracking_domain (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  host text not null,
  scheme text not null default 'https' check (scheme in ('https', 'http')),
  status text not null default 'active' check (status in ('active', 'inactive')),
  is_default boolean not null default false,
  certification text not null default 'not_certified'
    check (certification in ('certified', 'pending', 'not_certified')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create unique index tracking_domain_host on tracking_domain (workspace_id, lower(host));
create unique index tracking_domain_default on tracking_domain (workspace_id) where is_default;

create table tracking_domain_assignment (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  domain_id integer not null references tracking_domain,
  affiliate_id integer references affiliate,
  offer_id integer references offer,
  created_at timestamptz(3) not null default now(),
  unique nulls not distinct (workspace_id, affiliate_id, offer_id)
);

create table link_key (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  key text not null unique,
  offer_id integer not null references offer,
  affiliate_id integer not null references affiliate,
  created_at timestamptz(3) not null default now(),
  version bigint not null default 0
);

create table smart_link (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  code text not null,
  name text not null,
  status text not null default 'active' check (status in ('active', 'paused')),
  affiliate_id integer references affiliate,
  mode text not null default 'weighted' check (mode in ('weighted', 'waterfall')),
  rules jsonb not null default '[]',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create unique index smart_link_code on smart_link (workspace_id, lower(code));

create table traffic_source_template (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  traffic_source text not null default '',
  params jsonb not null default '{}',
  source_id text not null default '',
  affiliate_ids integer[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);

create table traffic_control (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  status text not null default 'active' check (status in ('active', 'paused')),
  conditions jsonb not null default '{}',
  action text not null check (action in ('block', 'forward')),
  forward_offer_id integer references offer,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);

create table blocklist_entry (
  id integer primary key generated always as identity,
  entry text not null unique,
  version bigint not null default 0
);

do $$
declare
  kind text;
begin
  foreach kind in array array['installation', 'workspace', 'advertiser', 'offer', 'offer_event', 'affiliate',
    'offer_access', 'payout_override', 'tracking_domain', 'link_key', 'smart_link', 'traffic_source_template',
    'traffic_control', 'blocklist_entry']
  loop
    execute format('create trigger stamp before insert or update on %I for each row execute function stamp_catalog_row()', kind);
    execute format('create trigger bury after delete on %I for each row execute function bury_catalog_row(%L)', kind, kind);
    execute format('create index %I on %I (version)', kind || '_version', kind);
  end loop;
end $$;

insert into installation default values;

-- One row per record of the catalog, as schemas/catalog/entry.ts reads it. Money leaves as text: a JSON number would
-- become a float.
create view catalog_entry as
  select 'installation' as kind, id::text as id, version,
         jsonb_build_object('id', id, 'secret', secret) as record from installation
  union all
  select 'workspace', id::text, version, to_jsonb(w) from workspace w
  union all
  select 'advertiser', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'status', status,
           'postback_token', postback_token, 'postback_ip_allowlist', postback_ip_allowlist, 'budget_caps', budget_caps)
    from advertiser
  union all
  select 'offer', id::text, version,
         case when deleted_at is null then
           jsonb_build_object('id', id, 'workspace_id', workspace_id, 'advertiser_id', advertiser_id, 'code', code,
             'name', name, 'status', status, 'visibility', visibility, 'destination_url', destination_url,
             'fallback_url', fallback_url, 'allowed_domains', allowed_domains, 'currency', currency,
             'revenue_type', revenue_type, 'revenue', revenue::text, 'payout_type', payout_type, 'payout', payout::text,
             'caps', caps, 'targeting', targeting, 'conversion_method', conversion_method,
             'unique_per_click', unique_per_click, 'attribution_days', attribution_days, 'default_status', default_status,
             'hold_days', trim_scale(hold_days)::text, 'min_seconds_to_conversion', min_seconds_to_conversion,
             'duplicate_click_seconds', duplicate_click_seconds, 'unique_click_hours', unique_click_hours,
             'fraud_checks', fraud_checks, 'terms', terms, 'fail_route_offer_id', fail_route_offer_id)
         end
    from offer
  union all
  select 'offer_event', id::text, version,
         jsonb_build_object('id', id, 'offer_id', offer_id, 'code', code, 'name', name, 'revenue_type', revenue_type,
           'revenue', revenue::text, 'payout_type', payout_type, 'payout', payout::text, 'is_default', is_default,
           'is_private', is_private, 'allow_multiple', allow_multiple)
    from offer_event
  union all
  select 'affiliate', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'name', name, 'status', status,
           'throttle_percent', throttle_percent, 'hold_days', trim_scale(hold_days)::text)
    from affiliate
  union all
  select 'offer_access', offer_id || '-' || affiliate_id, version,
         jsonb_build_object('offer_id', offer_id, 'affiliate_id', affiliate_id, 'status', status,
           'terms_accepted', terms_accepted_at is not null)
    from offer_access
  union all
  select 'payout_override', id::text, version,
         jsonb_build_object('id', id, 'offer_id', offer_id, 'affiliate_id', affiliate_id, 'event_code', event_code,
           'payout_type', payout_type, 'payout', payout::text, 'revenue_type', revenue_type, 'revenue', revenue::text)
    from payout_override
  union all
  select 'tracking_domain', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'host', host, 'scheme', scheme, 'status', status,
           'is_default', is_default, 'certification', certification)
    from tracking_domain
  union all
  select 'link_key', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'key', key, 'offer_id', offer_id,
           'affiliate_id', affiliate_id)
    from link_key
  union all
  select 'smart_link', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'name', name, 'status', status,
           'affiliate_id', affiliate_id, 'mode', mode, 'rules', rules)
    from smart_link
  union all
  select 'traffic_source_template', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'traffic_source', traffic_source,
           'params', params, 'source_id', source_id, 'affiliate_ids', affiliate_ids)
    from traffic_source_template
  union all
  select 'traffic_control', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'status', status,
           'conditions', conditions, 'action', action, 'forward_offer_id', forward_offer_id)
    from traffic_control
  union all
  select 'blocklist_entry', id::text, version, jsonb_build_object('id', id, 'entry', entry) from blocklist_entry
  union all
  select kind, id, version, null from catalog_tombstone;

create table api_key (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null default '',
  role text not null check (role in ('admin', 'analyst', 'partner', 'advertiser')),
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  user_id integer references app_user,
  -- SHA-256 of the key; the key itself is shown once and never stored (G06, P31).
  secret_hash bytea not null unique,
  permissions text[],
  ip_allowlist text[] not null default '{}',
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  check ((role = 'partner') = (affiliate_id is not null)),
  check ((role = 'advertiser') = (advertiser_id is not null))
);
create index api_key_list on api_key (workspace_id, created_at desc, id desc);

-- Exact over all processes; losing it in a crash only gives a fresh window.
create unlogged table rate_window (
  holder text not null,
  window_start timestamptz not null,
  used integer not null,
  primary key (holder)
);

-- Ingress processes: a producer is a journal folder, and keeps its number as long as the folder lives.
create table ingress_producer (
  id integer primary key generated always as identity (minvalue 1 maxvalue 65535),
  created_at timestamptz(3) not null default now(),
  host text not null default ''
);

-- Who writes the clicks of a lane. The epoch rises with every change of owner (P10).
create table lane_lease (
  lane integer primary key,
  owner text not null default '',
  epoch bigint not null default 0,
  expires_at timestamptz(3) not null default '-infinity'
);
