-- reads: 0001
-- The whole schema: tables by subject, each with its indexes and triggers, then the functions, then the rows that are there from the start.
-- `\ir` puts a file in its place. What a trigger or an index calls is made before its table.

-- === Versions of the catalog ===

-- The catalog is everything that decides what a click or a conversion becomes. Each of its tables has a `version`. A trigger takes it from
-- one sequence and holds one lock until the end of the transaction. Versions therefore become visible in their order, and a reader that
-- asks for more than its last version misses nothing. A deleted row leaves a tombstone with a version of its own. A soft delete (G37) is
-- an update that the feed shows as a removal.
create sequence catalog_version;

create table catalog_tombstone (
  kind text not null,
  id text not null,
  version bigint not null,
  primary key (kind, id)
);
create index catalog_tombstone_version on catalog_tombstone (version);

-- A Postgres that was restored from an older copy gives the same versions to other changes. So each transaction that changes the
-- catalog writes a random mark beside its first version: the newest row at or below a version has its mark. A reader
-- keeps the mark of its version, and a copy that has another mark there, or none, has another history (G206).
--
-- Row 0 stands for what an installation begins with. Rows are kept for a week, and at most a million of them; the newest one is never
-- removed.
create table catalog_log (
  version bigint primary key,
  mark uuid not null default gen_random_uuid(),
  logged_at timestamptz(3) not null default clock_timestamp()
);

\ir ../functions/next_catalog_version.sql
\ir ../functions/stamp_catalog_row.sql
\ir ../functions/bury_catalog_row.sql

-- === The installation and its processes ===

-- Counts up every few seconds, and ClickHouse stores each count. If Postgres has a lower count than ClickHouse, Postgres was restored from
-- a backup. One row.
create table store_beat (
  id integer primary key default 1 check (id = 1),
  beat bigint not null default 0,
  beat_at timestamptz(3) not null default '-infinity',
  -- When sequences were last lifted after a restore.
  lifted_at timestamptz(3) not null default '-infinity',
  -- The life in which the sequences may give ids; 'closed' after an orderly end of all processes; null until the first comparison.
  verified_life text,
  -- Which life a process is lifting the sequences for since lifted_at.
  lifting_life text
);

-- Ids are guarded on every table whose ids people, links or ClickHouse refer to: its trigger `ids_are_verified` refuses new rows after a start
-- until the sequences have been compared. Producer numbers are protected by nonces (ingress_producer), and a click or a conversion must not
-- wait for ClickHouse.
\ir ../functions/store_life.sql
\ir ../functions/refuse_unverified_ids.sql

create table installation (
  id integer primary key default 1 check (id = 1),
  secret text not null default encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex'),
  version bigint not null default 0,
  -- Which stores belong together: ClickHouse has the same incarnation (installation_mark). A restore gives it a new value.
  incarnation uuid not null default gen_random_uuid(),
  -- Number of click lanes. The lane is part of every click id and stored position, so each number is a multiple of those before it.
  lanes integer not null default 4 check (lanes in (4, 8, 16, 32, 64))
);
create index installation_version on installation (version);
create trigger stamp before insert or update on installation for each row execute function stamp_catalog_row();
create trigger bury after delete on installation for each row execute function bury_catalog_row('installation');

-- When each store was last backed up, for the metric backup_age_seconds. `tracker backup` and `tracker backup note` write it.
create table backup_note (
  store text primary key check (store in ('postgres', 'clickhouse')),
  backed_up_at timestamptz(3) not null
);

-- Every long-running process, seen every 10 s. `tracker status` and upgrades look here for processes that do not answer. A process deletes its
-- row when it ends in order, so a row that grows old is of one that was killed, hangs or cannot reach Postgres. Times are of the clock of Postgres.
create table system_process (
  process_id uuid primary key,
  role text not null check (role in ('ingress', 'processors', 'api')),
  name text not null,
  host text not null,
  version text not null,
  commit text not null,
  -- The newest migration of Postgres that the code of the process knows.
  schema_version integer not null,
  -- Of Postgres when the row was written. In a restored or cloned database it may be another one.
  incarnation uuid not null,
  started_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  -- The newest migration of ClickHouse that the code of the process knows.
  clickhouse_version integer,
  -- Where `tracker status` and `doctor` ask a process while NATS is away.
  ops_port integer check (ops_port between 1 and 65535)
);

-- The right to do a task of the scheduler, and when it was last done. Tasks are safe to do twice; the lease spares the work.
create table schedule_task (
  name text primary key,
  owner text not null default '',
  expires_at timestamptz(3) not null default '-infinity',
  done_at timestamptz(3) not null default '-infinity'
);

-- === Workspaces ===

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
  version bigint not null default 0,
  advertiser_may_rotate boolean not null default true,
  -- Partners who sign up by themselves, where a workspace lets them (N28).
  sign_up text not null default 'closed' check (sign_up in ('closed', 'review'))
);
create index workspace_version on workspace (version);
create trigger stamp before insert or update on workspace for each row execute function stamp_catalog_row();
create trigger bury after delete on workspace for each row execute function bury_catalog_row('workspace');
create trigger ids_are_verified before insert on workspace for each statement execute function refuse_unverified_ids();

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
create index app_user_list on app_user (workspace_id, created_at desc, id desc);
create trigger ids_are_verified before insert on app_user for each statement execute function refuse_unverified_ids();

-- === Advertisers, offers and partners ===

-- Indexes on (created_at desc, id desc) serve lists, which are newest first, page by page. A filter that few rows pass reads a page from an
-- index of its own, in the order of the list. Two partners of workspaces that share a tracking host cannot have one code: `shared_code`.
\ir ../functions/refuse_shared_code.sql
\ir ../functions/fill_access_workspace.sql

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
create index advertiser_by_name on advertiser (workspace_id, lower(name) collate "C", id);
create index advertiser_version on advertiser (version);
create index advertiser_capped on advertiser (workspace_id, id) where budget_caps <> '{}';
create trigger stamp before insert or update on advertiser for each row execute function stamp_catalog_row();
create trigger bury after delete on advertiser for each row execute function bury_catalog_row('advertiser');
create trigger ids_are_verified before insert on advertiser for each statement execute function refuse_unverified_ids();

-- Tokens that an advertiser replaced and that stay good for a while.
create table advertiser_old_token (
  id integer primary key generated always as identity,
  advertiser_id integer not null references advertiser,
  token text not null,
  good_until timestamptz(3) not null,
  version bigint not null default 0
);
create index advertiser_old_token_owner on advertiser_old_token (advertiser_id);
create index advertiser_old_token_version on advertiser_old_token (version);
create trigger ids_are_verified before insert on advertiser_old_token for each statement execute function refuse_unverified_ids();
create trigger stamp before insert or update on advertiser_old_token for each row execute function stamp_catalog_row();
create trigger bury after delete on advertiser_old_token for each row execute function bury_catalog_row('advertiser_old_token');

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
  version bigint not null default 0,
  -- How partners ask for access: questions, tiers of partners that are approved at once, and days after which a rejected one may ask again.
  access_questions jsonb not null default '[]',
  auto_approve_tiers text[] not null default '{}',
  reapply_days integer not null default 30 check (reapply_days >= 0),
  -- Of what an order number is unique: of the offer, or of each of its events.
  txid_scope text not null default 'offer' check (txid_scope in ('offer', 'event')),
  -- Which parameters of a link reach the landing page: none, those that begin with utm_, or also all that have no column of their own.
  pass_parameters text not null default 'none' check (pass_parameters in ('none', 'utm', 'all'))
);
create unique index offer_code on offer (workspace_id, lower(code)) where deleted_at is null;
create index offer_list on offer (workspace_id, created_at desc, id desc) where deleted_at is null;
create index offer_by_name on offer (workspace_id, lower(name) collate "C", id) where deleted_at is null;
create index offer_advertiser on offer (advertiser_id, created_at desc, id desc) where deleted_at is null;
create index offer_advertiser_by_name on offer (advertiser_id, lower(name) collate "C", id) where deleted_at is null;
create index offer_advertiser_by_code on offer (advertiser_id, lower(code), id) where deleted_at is null;
create index offer_version on offer (version);
create index offer_any_code on offer (lower(code)) where deleted_at is null;
create index offer_capped on offer (workspace_id, id) where caps <> '{}' and deleted_at is null;
create trigger stamp before insert or update on offer for each row execute function stamp_catalog_row();
create trigger bury after delete on offer for each row execute function bury_catalog_row('offer');
create trigger shared_code after insert on offer for each row execute function refuse_shared_code('offer_code');
create trigger shared_code_changed after update of code on offer
  for each row when (lower(new.code) <> lower(old.code)) execute function refuse_shared_code('offer_code');
create trigger ids_are_verified before insert on offer for each statement execute function refuse_unverified_ids();

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
create index offer_event_version on offer_event (version);
-- Each row of a partner's lists asks whether an event is private.
create index offer_event_private on offer_event (offer_id, code) where is_private;
create trigger stamp before insert or update on offer_event for each row execute function stamp_catalog_row();
create trigger bury after delete on offer_event for each row execute function bury_catalog_row('offer_event');
create trigger ids_are_verified before insert on offer_event for each statement execute function refuse_unverified_ids();

-- Offers that share caps.
create table offer_group (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  offer_ids integer[] not null default '{}',
  caps jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create index offer_group_list on offer_group (workspace_id, created_at desc, id desc);
create index offer_group_version on offer_group (version);
create index offer_group_capped on offer_group (workspace_id, id) where caps <> '{}';
create trigger stamp before insert or update on offer_group for each row execute function stamp_catalog_row();
create trigger bury after delete on offer_group for each row execute function bury_catalog_row('offer_group');
create trigger ids_are_verified before insert on offer_group for each statement execute function refuse_unverified_ids();

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
  -- The texts of the contract as JSON, sealed under SECRETS_KEY; null without any.
  payment_details bytea,
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
create index affiliate_by_name on affiliate (workspace_id, lower(name) collate "C", id);
create index affiliate_version on affiliate (version);
create index affiliate_manager on affiliate (manager_id, created_at desc, id desc) where manager_id is not null;
create index affiliate_any_code on affiliate (lower(code));
create index affiliate_waiting on affiliate (workspace_id, created_at desc, id desc) where status = 'pending';
create trigger stamp before insert or update on affiliate for each row execute function stamp_catalog_row();
create trigger bury after delete on affiliate for each row execute function bury_catalog_row('affiliate');
create trigger shared_code after insert on affiliate for each row execute function refuse_shared_code('affiliate_code');
create trigger shared_code_changed after update of code on affiliate
  for each row when (lower(new.code) <> lower(old.code)) execute function refuse_shared_code('affiliate_code');
create trigger ids_are_verified before insert on affiliate for each statement execute function refuse_unverified_ids();

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
  -- SHA-256 of the text that was accepted, as hexadecimal digits. It stays when new terms ask for acceptance anew.
  accepted_terms_sha256 text,
  -- A partner that accepts the terms of a public offer gets a record without having asked for access: such a record is in no list
  -- of requests, and nobody decides it.
  is_asked boolean not null generated always as (status <> 'pending' or requested_at is not null) stored,
  -- What a partner wrote when it asked for access to an offer: free text, and answers to the questions of the offer by their keys.
  message text not null default '',
  answers jsonb not null default '{}',
  -- What the staff tells the partner about the decision. The note beside it is for the staff.
  reply text not null default '',
  -- The workspace of the offer, so that the requests of a workspace are one list. An offer never changes its workspace.
  workspace_id integer,
  primary key (offer_id, affiliate_id)
);
create index offer_access_affiliate on offer_access (affiliate_id, offer_id);
create index offer_access_version on offer_access (version);
create index offer_access_list on offer_access (offer_id, (coalesce(requested_at, 'epoch')) desc, affiliate_id desc);
create index offer_access_requests on offer_access
  (workspace_id, (coalesce(requested_at, 'epoch'::timestamptz)) desc, offer_id desc, affiliate_id desc) where is_asked;
create index offer_access_waiting on offer_access
  (workspace_id, (coalesce(requested_at, 'epoch'::timestamptz)) desc, offer_id desc, affiliate_id desc)
  where is_asked and status = 'pending';
create trigger stamp before insert or update on offer_access for each row execute function stamp_catalog_row();
create trigger bury after delete on offer_access for each row execute function bury_catalog_row('offer_access');
create trigger fill_workspace before insert on offer_access for each row execute function fill_access_workspace();

-- Other terms for one partner on one offer: of the default event, of the event `event_code`, or with `*` of all events of the same type (G199).
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
create index payout_override_version on payout_override (version);
create index payout_override_list on payout_override (workspace_id, created_at desc, id desc);
create index payout_override_affiliate on payout_override (affiliate_id);
create index payout_override_offer on payout_override (offer_id, created_at desc, id desc);
create index payout_override_partner on payout_override (affiliate_id, created_at desc, id desc);
-- Overrides of one partner and one offer. Made last: of indexes that promise one row the planner takes the newest, and with the
-- partner's alone it read all overrides of the partner for each offer of a page.
create index payout_override_pair on payout_override (affiliate_id, offer_id);
create trigger stamp before insert or update on payout_override for each row execute function stamp_catalog_row();
create trigger bury after delete on payout_override for each row execute function bury_catalog_row('payout_override');
create trigger ids_are_verified before insert on payout_override for each statement execute function refuse_unverified_ids();

-- === Links and traffic ===

\ir ../functions/tracking_host_key.sql
\ir ../functions/guard_tracking_host.sql

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
  version bigint not null default 0,
  -- The row of the workspace that owns the host. Null for the owner itself (G200, G208).
  shared_from integer references tracking_domain
);
create unique index tracking_domain_host on tracking_domain (workspace_id, lower(host));
create unique index tracking_domain_default on tracking_domain (workspace_id) where is_default;
create index tracking_domain_version on tracking_domain (version);
create index tracking_domain_list on tracking_domain (workspace_id, created_at desc, id desc);
-- Each row of a partner's lists asks on which domain its link stands.
create index tracking_domain_first on tracking_domain (workspace_id, is_default desc, id) where status = 'active';
create unique index tracking_domain_owner on tracking_domain (tracking_host_key(host)) where shared_from is null;
create index tracking_domain_name on tracking_domain (split_part(tracking_host_key(host), ':', 1)) where shared_from is null;
create index tracking_domain_share on tracking_domain (shared_from) where shared_from is not null;
create index tracking_domain_group on tracking_domain (coalesce(shared_from, id));
create trigger stamp before insert or update on tracking_domain for each row execute function stamp_catalog_row();
create trigger bury after delete on tracking_domain for each row execute function bury_catalog_row('tracking_domain');
create trigger tracking_host before insert or update of host on tracking_domain
  for each row execute function guard_tracking_host();
create trigger ids_are_verified before insert on tracking_domain for each statement execute function refuse_unverified_ids();

create table tracking_domain_assignment (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  domain_id integer not null references tracking_domain,
  affiliate_id integer references affiliate,
  offer_id integer references offer,
  created_at timestamptz(3) not null default now(),
  unique nulls not distinct (workspace_id, affiliate_id, offer_id)
);
create index tracking_domain_assignment_list on tracking_domain_assignment (workspace_id, created_at desc, id desc);
create index tracking_domain_assignment_domain on tracking_domain_assignment (domain_id, created_at desc, id desc);
create index tracking_domain_assignment_affiliate on tracking_domain_assignment (affiliate_id, created_at desc, id desc)
  where affiliate_id is not null;
create index tracking_domain_assignment_offer on tracking_domain_assignment (offer_id, created_at desc, id desc)
  where offer_id is not null;
create trigger ids_are_verified before insert on tracking_domain_assignment for each statement execute function refuse_unverified_ids();

create table link_key (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  key text not null unique,
  offer_id integer not null references offer,
  affiliate_id integer not null references affiliate,
  created_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create index link_key_version on link_key (version);
create index link_key_list on link_key (workspace_id, created_at desc, id desc);
create index link_key_offer on link_key (offer_id, created_at desc, id desc);
create index link_key_affiliate on link_key (affiliate_id, created_at desc, id desc);
create trigger stamp before insert or update on link_key for each row execute function stamp_catalog_row();
create trigger bury after delete on link_key for each row execute function bury_catalog_row('link_key');
create trigger ids_are_verified before insert on link_key for each statement execute function refuse_unverified_ids();

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
create index smart_link_version on smart_link (version);
create index smart_link_list on smart_link (workspace_id, created_at desc, id desc);
create index smart_link_affiliate on smart_link (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index smart_link_exact_code on smart_link (workspace_id, code);
create index smart_link_any_code on smart_link (lower(code));
create trigger stamp before insert or update on smart_link for each row execute function stamp_catalog_row();
create trigger bury after delete on smart_link for each row execute function bury_catalog_row('smart_link');
create trigger shared_code after insert on smart_link for each row execute function refuse_shared_code('smart_link_code');
create trigger shared_code_changed after update of code on smart_link
  for each row when (lower(new.code) <> lower(old.code)) execute function refuse_shared_code('smart_link_code');
create trigger ids_are_verified before insert on smart_link for each statement execute function refuse_unverified_ids();

-- What a link names its records by.
create view link_code as
  select 'offer'::text as kind, id, workspace_id, lower(code) as code from offer where deleted_at is null
  union all
  select 'affiliate', id, workspace_id, lower(code) from affiliate
  union all
  select 'smart_link', id, workspace_id, lower(code) from smart_link;

-- Codes of earlier systems, so that old links keep working (N112). Asked only when neither a code nor an id is found.
create table code_alias (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  kind text not null generated always as
    (case when offer_id is not null then 'offer' when affiliate_id is not null then 'affiliate' else 'smart_link' end) stored,
  alias text not null check (alias ~ '^[A-Za-z0-9._~-]{1,64}$'),
  offer_id integer references offer,
  affiliate_id integer references affiliate,
  smart_link_id integer references smart_link,
  target_id integer not null generated always as (coalesce(offer_id, affiliate_id, smart_link_id)) stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0,
  check (num_nonnulls(offer_id, affiliate_id, smart_link_id) = 1)
);
create unique index code_alias_alias on code_alias (workspace_id, kind, lower(alias));
create index code_alias_list on code_alias (workspace_id, created_at desc, id desc);
create index code_alias_target on code_alias (target_id, created_at desc, id desc);
create index code_alias_version on code_alias (version);
create trigger ids_are_verified before insert on code_alias for each statement execute function refuse_unverified_ids();
create trigger stamp before insert or update on code_alias for each row execute function stamp_catalog_row();
create trigger bury after delete on code_alias for each row execute function bury_catalog_row('code_alias');

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
create index traffic_source_template_version on traffic_source_template (version);
create index traffic_source_template_list on traffic_source_template (workspace_id, created_at desc, id desc);
create trigger stamp before insert or update on traffic_source_template for each row execute function stamp_catalog_row();
create trigger bury after delete on traffic_source_template for each row execute function bury_catalog_row('traffic_source_template');
create trigger ids_are_verified before insert on traffic_source_template for each statement execute function refuse_unverified_ids();

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
create index traffic_control_version on traffic_control (version);
create index traffic_control_list on traffic_control (workspace_id, created_at desc, id desc);
create trigger stamp before insert or update on traffic_control for each row execute function stamp_catalog_row();
create trigger bury after delete on traffic_control for each row execute function bury_catalog_row('traffic_control');
create trigger ids_are_verified before insert on traffic_control for each statement execute function refuse_unverified_ids();

-- Unsafe targets: of the installation, and of a single workspace (G201).
create table blocklist_entry (
  id integer primary key generated always as identity,
  entry text not null unique,
  version bigint not null default 0
);
create index blocklist_entry_version on blocklist_entry (version);
create trigger stamp before insert or update on blocklist_entry for each row execute function stamp_catalog_row();
create trigger bury after delete on blocklist_entry for each row execute function bury_catalog_row('blocklist_entry');
create trigger ids_are_verified before insert on blocklist_entry for each statement execute function refuse_unverified_ids();

create table workspace_blocklist_entry (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  entry text not null,
  version bigint not null default 0,
  unique (workspace_id, entry)
);
create index workspace_blocklist_entry_version on workspace_blocklist_entry (version);
create trigger stamp before insert or update on workspace_blocklist_entry for each row execute function stamp_catalog_row();
create trigger bury after delete on workspace_blocklist_entry
  for each row execute function bury_catalog_row('workspace_blocklist_entry');
create trigger ids_are_verified before insert on workspace_blocklist_entry for each statement execute function refuse_unverified_ids();

-- === What decides about conversions ===

create table conversion_rule (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  position integer not null default 0,
  status text not null default 'active' check (status in ('active', 'paused')),
  action text not null check (action in ('reject', 'hold')),
  conditions jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create index conversion_rule_list on conversion_rule (workspace_id, position, id);
create index conversion_rule_version on conversion_rule (version);
create index conversion_rule_newest on conversion_rule (workspace_id, created_at desc, id desc);
create trigger stamp before insert or update on conversion_rule for each row execute function stamp_catalog_row();
create trigger bury after delete on conversion_rule for each row execute function bury_catalog_row('conversion_rule');
create trigger ids_are_verified before insert on conversion_rule for each statement execute function refuse_unverified_ids();

create table coupon (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  code text not null check (code <> ''),
  offer_id integer references offer,
  -- No reference: a coupon outlives its partner, and a report with it says so (section 7.5).
  affiliate_id integer not null,
  status text not null default 'active' check (status in ('active', 'inactive')),
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0
);
create unique index coupon_code on coupon (workspace_id, lower(code));
create index coupon_list on coupon (workspace_id, created_at desc, id desc);
create index coupon_version on coupon (version);
create index coupon_offer on coupon (offer_id, created_at desc, id desc) where offer_id is not null;
create index coupon_affiliate on coupon (affiliate_id, created_at desc, id desc);
create index coupon_exact_code on coupon (workspace_id, code);
create trigger stamp before insert or update on coupon for each row execute function stamp_catalog_row();
create trigger bury after delete on coupon for each row execute function bury_catalog_row('coupon');
create trigger ids_are_verified before insert on coupon for each statement execute function refuse_unverified_ids();

-- One row per record of the catalog, as schemas/catalog/entry.ts reads it. Money leaves as text: a JSON number would become a float.
create view catalog_entry as
  select 'installation' as kind, id::text as id, version,
         jsonb_build_object('id', id, 'secret', secret, 'lanes', lanes) as record from installation
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
             'fraud_checks', fraud_checks, 'terms', terms, 'fail_route_offer_id', fail_route_offer_id,
             'txid_scope', txid_scope, 'pass_parameters', pass_parameters)
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
  select 'offer_group', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'offer_ids', offer_ids, 'caps', caps)
    from offer_group
  union all
  select 'conversion_rule', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'name', name, 'position', position, 'status', status,
           'action', action, 'conditions', conditions)
    from conversion_rule
  union all
  select 'coupon', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'code', code, 'offer_id', offer_id,
           'affiliate_id', affiliate_id, 'status', status,
           'starts_at_ms', (extract(epoch from starts_at) * 1000)::bigint, 'ends_at_ms', (extract(epoch from ends_at) * 1000)::bigint)
    from coupon
  union all
  select 'workspace_blocklist_entry', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'entry', entry)
    from workspace_blocklist_entry
  union all
  select 'code_alias', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'kind', kind, 'alias', alias, 'target_id', target_id)
    from code_alias
  union all
  select 'advertiser_old_token', id::text, version,
         jsonb_build_object('id', id, 'advertiser_id', advertiser_id, 'token', token,
           'good_until_ms', (extract(epoch from good_until) * 1000)::bigint)
    from advertiser_old_token
  union all
  select kind, id, version, null from catalog_tombstone;

-- === What partners advertise with ===

-- Sections 2.4 and 2.11. None of it decides what a click becomes, so none is in the catalog.
create table creative (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  offer_id integer not null references offer,
  name text not null,
  kind text not null default 'image' check (kind in ('image', 'html', 'text', 'link', 'email')),
  url text not null default '',
  body text not null default '',
  -- Pixels; 0 is not known.
  width integer not null default 0 check (width >= 0),
  height integer not null default 0 check (height >= 0),
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index creative_list on creative (offer_id, created_at desc, id desc);
create trigger ids_are_verified before insert on creative for each statement execute function refuse_unverified_ids();

create table deal (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  -- Null is for everything of the advertiser (G173).
  offer_id integer references offer,
  title text not null,
  description text not null default '',
  coupon_code text not null default '',
  landing_url text not null default '',
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index deal_list on deal (workspace_id, created_at desc, id desc);
create index deal_advertiser on deal (advertiser_id);
create index deal_offer on deal (offer_id);
create trigger ids_are_verified before insert on deal for each statement execute function refuse_unverified_ids();

create table product_feed (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  -- Null is for everything of the advertiser (G173).
  offer_id integer references offer,
  name text not null,
  feed_url text not null,
  format text not null default 'csv' check (format in ('csv', 'tsv', 'xml', 'json')),
  description text not null default '',
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index product_feed_list on product_feed (workspace_id, created_at desc, id desc);
create index product_feed_advertiser on product_feed (advertiser_id);
create index product_feed_offer on product_feed (offer_id);
create trigger ids_are_verified before insert on product_feed for each statement execute function refuse_unverified_ids();

-- === Keys and people ===

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
create index api_key_affiliate on api_key (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index api_key_advertiser on api_key (advertiser_id, created_at desc, id desc) where advertiser_id is not null;
create trigger ids_are_verified before insert on api_key for each statement execute function refuse_unverified_ids();

-- People who sign in: one person for the whole installation, a membership for each workspace and account.
create table person (
  id integer primary key generated always as identity,
  email text not null,
  name text not null,
  status text not null default 'active' check (status in ('active', 'inactive')),
  -- Runs the installation.
  is_operator boolean not null default false,
  -- Argon2id in PHC form; null for somebody who signs in only with passkeys or OIDC.
  password_hash text,
  preferences jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- The address whose mailbox this person has proved to read. Another one than `email`, or null, proves nothing.
  proved_email text
);
create unique index person_email on person (lower(email));
create trigger ids_are_verified before insert on person for each statement execute function refuse_unverified_ids();

create table membership (
  id integer primary key generated always as identity,
  person_id integer not null references person,
  workspace_id integer not null references workspace,
  role text not null check (role in ('admin', 'analyst', 'partner', 'advertiser')),
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  -- The same human as manager of accounts.
  user_id integer references app_user,
  -- Narrows staff as it narrows a key (G09).
  permissions text[],
  status text not null default 'active' check (status in ('active', 'inactive')),
  -- Rises with every change. Answers to sessions carry it.
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check ((role = 'partner') = (affiliate_id is not null)),
  check ((role = 'advertiser') = (advertiser_id is not null)),
  unique nulls not distinct (person_id, workspace_id, affiliate_id, advertiser_id)
);
create index membership_list on membership (workspace_id, created_at desc, id desc);
create index membership_of_affiliate on membership (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index membership_of_advertiser on membership (advertiser_id, created_at desc, id desc) where advertiser_id is not null;
create trigger ids_are_verified before insert on membership for each statement execute function refuse_unverified_ids();

create table session (
  id uuid primary key default gen_random_uuid(),
  person_id integer not null references person,
  -- SHA-256 of the cookie's value, which is stored nowhere (P31).
  secret_hash bytea not null unique,
  -- 'second_factor': the password was right, the second factor is missing.
  state text not null check (state in ('second_factor', 'full')),
  -- Last proof of a factor.
  proved_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  ip inet,
  user_agent text not null default ''
);
create index session_person on session (person_id, created_at desc, id desc);
create index session_end on session (expires_at);

-- Mails that wait until the mail server has taken them; written in the transaction of the change that they are about. No mail here has a link that
-- signs in.
create table mail_outbox (
  id bigint primary key generated always as identity,
  recipient text not null,
  subject text not null,
  body text not null,
  attempts integer not null default 0,
  -- When it is sent next, or, while a process sends it, when that process is given up.
  due_at timestamptz(3) not null default '-infinity',
  created_at timestamptz(3) not null default clock_timestamp()
);
create index mail_outbox_due on mail_outbox (due_at, id);

-- Works once. The token is stored as SHA-256.
create table one_time_link (
  id integer primary key generated always as identity,
  secret_hash bytea not null unique,
  kind text not null check (kind in ('first_admin', 'invitation', 'reset')),
  -- Of a reset.
  person_id integer references person,
  -- What an invitation grants. A first admin without a workspace gets all of them.
  workspace_id integer references workspace,
  email text,
  role text check (role in ('admin', 'analyst', 'partner', 'advertiser')),
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  permissions text[],
  -- Null for the command line.
  made_by integer references person,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- Of the token that went to the mailbox and to nobody else. The token of `secret_hash` was shown to whoever made the link; of a link that was
  -- only mailed it is the hash of nothing.
  mailed_hash bytea unique,
  -- Of a reset: a hash of what the person was allowed when the link was made.
  person_rights text,
  check (kind <> 'invitation' or (workspace_id is not null and email is not null and role is not null)),
  check (kind <> 'reset' or person_id is not null)
);
create index one_time_link_list on one_time_link (workspace_id, created_at desc, id desc);
create index one_time_link_of_affiliate on one_time_link (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index one_time_link_of_advertiser on one_time_link (advertiser_id, created_at desc, id desc) where advertiser_id is not null;
create index one_time_link_of_person on one_time_link (person_id) where person_id is not null;
create index one_time_link_by_person on one_time_link (made_by) where made_by is not null;
create trigger ids_are_verified before insert on one_time_link for each statement execute function refuse_unverified_ids();

create table totp (
  person_id integer primary key references person,
  -- Encrypted under CONSOLE_SECRET.
  sealed bytea not null,
  confirmed_at timestamptz(3),
  -- A code of this step or an earlier one has counted already.
  last_step bigint not null default 0
);

create table recovery_code (
  person_id integer not null references person,
  code_hash bytea not null,
  used_at timestamptz(3),
  primary key (person_id, code_hash)
);

create table passkey (
  id integer primary key generated always as identity,
  person_id integer not null references person,
  name text not null,
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3)
);
create index passkey_person on passkey (person_id, id);
create trigger ids_are_verified before insert on passkey for each statement execute function refuse_unverified_ids();

create table oidc_identity (
  issuer text not null,
  subject text not null,
  person_id integer not null references person,
  primary key (issuer, subject)
);
create index oidc_identity_person on oidc_identity (person_id);

-- Nothing here outlives a few minutes.
create table challenge (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  value jsonb not null,
  expires_at timestamptz(3) not null
);

create table sign_in_throttle (
  -- 'pair:', 'email:' or 'factor:' and a hash or an id.
  holder text primary key,
  failures integer not null,
  -- End of the window in which failures are counted.
  counted_until timestamptz(3) not null,
  blocked_until timestamptz(3) not null
);

-- Partners who signed up by themselves (N28).
create table sign_up (
  id uuid primary key,
  workspace_id integer not null references workspace,
  -- SHA-256 of the e-mail in lower case: a second application within a day is the same one.
  email_hash bytea not null,
  affiliate_id integer not null references affiliate,
  created_at timestamptz(3) not null default now()
);
create index sign_up_of_email on sign_up (workspace_id, email_hash, created_at desc);
create index sign_up_of_affiliate on sign_up (affiliate_id);

-- Reports and lists that somebody has named: the address of a screen of the console, with its settings.
create table saved_view (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Of a partner or an advertiser; both null for staff. A view is shared within its account only.
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  -- Who made it: a person or a key.
  person_id integer references person,
  key_id integer references api_key,
  name text not null,
  path text not null,
  query text not null,
  is_shared boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (num_nonnulls(person_id, key_id) = 1),
  check (num_nonnulls(affiliate_id, advertiser_id) <= 1)
);
-- One account's views lie together; staff are the account 0, 0.
create index saved_view_list on saved_view (workspace_id, coalesce(affiliate_id, 0), coalesce(advertiser_id, 0), created_at desc, id desc);
create index saved_view_of_affiliate on saved_view (affiliate_id) where affiliate_id is not null;
create index saved_view_of_advertiser on saved_view (advertiser_id) where advertiser_id is not null;
create index saved_view_of_person on saved_view (person_id) where person_id is not null;
create index saved_view_of_key on saved_view (key_id) where key_id is not null;
create trigger ids_are_verified before insert on saved_view for each statement execute function refuse_unverified_ids();

create table audit_log (
  id bigint primary key generated always as identity,
  workspace_id integer not null,
  ts timestamptz(3) not null default now(),
  key_id integer,
  user_name text not null default '',
  action text not null,
  ip inet,
  status integer not null,
  request_id text not null,
  -- A sign-in of somebody without a membership belongs to no workspace: 0.
  person_id integer
);
create index audit_log_list on audit_log (workspace_id, ts desc, id desc);
create index audit_log_age on audit_log using brin (ts);
create index audit_log_key on audit_log (key_id, ts desc, id desc) where key_id is not null;

-- Requests of a key in its window, over all processes (P32). Losing it in a crash only gives a fresh window.
create unlogged table rate_window (
  holder text not null,
  window_start timestamptz not null,
  used integer not null,
  primary key (holder)
);

-- Places for reports over all processes of the api (G205). Nothing here outlives the processes, so it needs no write-ahead log; after a
-- crash of Postgres it is empty, and reports that are under way are not counted.
create unlogged table report_place (
  -- 'key' or 'workspace', and its id.
  kind text not null,
  holder integer not null,
  -- From 1 to as many as the holder may have.
  place smallint not null,
  -- The process that has it, until then: it goes on renewing it.
  owner uuid not null,
  expires_at timestamptz(3) not null,
  primary key (kind, holder, place)
);

-- === Clicks ===

-- Who writes the clicks of a lane. The epoch rises with every change of owner (P10).
create table lane_lease (
  lane integer primary key,
  owner text not null default '',
  epoch bigint not null default 0,
  expires_at timestamptz(3) not null default '-infinity',
  -- The last insert of a lane that its writer has begun: the only one whose outcome may be unknown. It is recorded before the insert begins, and
  -- the next owner of the lane settles it before it inserts anything else (P9).
  -- `intent`: {n, table, month, ranges: [[producer, epoch, from, to], …], token, home}, at most 1,000 ranges, about 40 kB.
  intent jsonb,
  -- The newest epoch whose owner records its inserts.
  intent_epoch bigint,
  -- The ClickHouse replica that has the newest rows of the lane. Null on a server alone.
  home text,
  -- Of which offers a lane decides uniqueness and counts click caps: those whose ID modulo `lanes` is the lane. 0 for a lane that was added
  -- and waits until `parent`, the lane of its offers before, has stored their clicks and left them to it.
  lanes integer not null default 4,
  parent integer,
  -- The shard of a ClickHouse cluster that gets a lane's new rows, as the macros of its nodes name it. Null on a server alone, and until the
  -- lane is opened for the first time.
  shard text,
  -- The shard to which an operator moves the lane. Its writer clears this when it has moved.
  move_to text
) with (
  -- A few rows that are replaced at every insert: each page keeps room for new versions, and old ones are removed early.
  fillfactor = 30,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 1000
);

-- Writers that are alive, also those without a lane: lanes are spread over them.
create table lane_writer (
  owner text primary key,
  expires_at timestamptz(3) not null
);

-- Ingress processes: a producer is a journal folder, and keeps its number as long as the folder lives. There are 65,535 numbers. A number may
-- be given out again once it is proven that nothing of its earlier holder is left anywhere (schemas/installation/free-producers.ts).
create table ingress_producer (
  id integer primary key generated always as identity (minvalue 1 maxvalue 65535),
  created_at timestamptz(3) not null default now(),
  host text not null default '',
  -- A producer number belongs to the journal folder that has its nonce, and each start of a process notes its run here and says
  -- every two seconds that it lives. So a process notices that its number was given again (a restored Postgres), or that another
  -- one runs on a copy of its folder (a cloned machine, a copied volume).
  nonce text,
  run text,
  run_epoch bigint,
  -- Null when the run has ended in good order.
  run_at timestamptz(3),
  -- When a process left this number because another one has it.
  contested_at timestamptz(3),
  -- Since when the records of a producer are given up: its host is lost with its disk. It counts again when it speaks.
  given_up_at timestamptz(3),
  -- UTC milliseconds: clicks answered since then may be missing.
  given_up_from_ms bigint,
  -- Since when the holder is at work nowhere: it has ended, or was given up. Null while it may be.
  quiet_since timestamptz(3),
  -- When it was proven that the number may be given out again. Counts only with `quiet_since`.
  free_at timestamptz(3),
  -- The highest epoch that any holder used; the next holder begins above it. Stays when the number is given out.
  free_above bigint
);
create index ingress_producer_free on ingress_producer (free_at, id) where free_at is not null;

-- Starts of ingress processes that have not said that they ended. While one of them is silent, clicks answered after its last
-- word may lie in its journal, and are not called unknown (G162). Who knows that a host is lost with its disk removes its rows.
create table click_producer (
  lane integer not null,
  producer integer not null,
  epoch bigint not null,
  -- UTC milliseconds: every click answered before is known.
  said_ms bigint not null,
  primary key (lane, producer, epoch)
);
create index click_producer_number on click_producer (producer);

-- Positions that never come to the table: lost at their producer, which has said so, or unreadable. Without this they would
-- be asked for again after every restart. Ranges of one (lane, producer, epoch) do not overlap.
create table click_lost (
  lane integer not null,
  producer integer not null,
  epoch bigint not null,
  from_position bigint not null,
  -- The first position after the range.
  to_position bigint not null check (to_position > from_position),
  reason text not null check (reason in ('declared', 'unreadable', 'passed on')),
  noted_at timestamptz(3) not null default now(),
  primary key (lane, producer, epoch, from_position)
);

-- How many positions of each producer's sequence were taken care of when this was last noted: a table that holds fewer has
-- forgotten some, and is filled again (P5).
create table click_stored (
  lane integer not null,
  producer integer not null,
  epoch bigint not null,
  settled bigint not null,
  noted_at timestamptz(3) not null default now(),
  primary key (lane, producer, epoch)
);

-- What a lane had stored on a shard when it left it. Its writer needs this while that shard does not answer.
create table click_left_shard (
  lane integer not null,
  shard text not null,
  producer integer not null,
  epoch bigint not null,
  -- Positions with a row, ascending: [[from, to], …]; `to` is exclusive.
  ranges jsonb not null,
  left_at timestamptz(3) not null default now(),
  primary key (lane, shard, producer, epoch)
);

-- === Conversions ===

-- The system of record of everything that is paid.
create table conversion (
  id uuid primary key,
  workspace_id integer not null references workspace,
  click_id text,
  offer_id integer not null references offer,
  affiliate_id integer references affiliate,
  advertiser_id integer not null references advertiser,
  smart_link_id integer,
  event_id integer not null,
  event_code text not null,
  is_private boolean not null,
  status text not null check (status in ('approved', 'pending', 'rejected')),
  status_reason text not null default '',
  is_duplicate boolean not null default false,
  -- An alert-only cap was over when this was recorded (G40).
  cap_alert boolean not null default false,
  revenue numeric(18, 4) not null,
  payout numeric(18, 4) not null,
  sale_amount numeric(18, 4) not null default 0,
  currency text not null,
  -- The terms by which money was computed, so that a changed amount is computed by the same ones (G108).
  payout_type text not null,
  payout_rate numeric(18, 4) not null,
  payout_given boolean not null default false,
  revenue_type text not null,
  revenue_rate numeric(18, 4) not null,
  revenue_given boolean not null default false,
  adv_txid text,
  method text not null check (method in ('s2s', 'api', 'js', 'pixel')),
  click_ts timestamptz(3),
  conv_ts timestamptz(3) not null,
  hold_until timestamptz(3),
  -- What was copied from the click: domain, link_type, sub1.., source_id, traffic_source, gclid.., ext_.., geo, device.
  click jsonb not null default '{}',
  conv_ip inet,
  params jsonb not null default '{}',
  notes text not null default '',
  email_hash text,
  phone_hash text,
  -- Rises with every change; ClickHouse keeps the highest (design 3).
  version integer not null default 1,
  -- Set while this row is the one that stands for its click and event, or its order: the unique indexes below.
  holds_click boolean not null,
  holds_txid boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Fingerprints of the report that made this row and of the last one that changed it: a report that comes again changes nothing (G198). Keyed,
  -- so that no personal value can be guessed from it without the secret of the installation. Null where no report did.
  report_fingerprint bytea,
  change_fingerprint bytea,
  -- The status that the last of these reports named; null for none.
  asked_status text check (asked_status in ('approved', 'pending', 'rejected')),
  -- As `holds_txid`, on an offer whose order numbers are unique for each event: then the conversion has a row in `event_order`.
  holds_event_txid boolean not null default false
);
-- Uniqueness is an index, not a look-up: any number of senders at once, exactly one is counted (P16).
create unique index conversion_click_event on conversion (click_id, event_code) where holds_click;
create unique index conversion_offer_txid on conversion (offer_id, adv_txid) where holds_txid;
create index conversion_list on conversion (workspace_id, conv_ts desc, id desc);
create index conversion_affiliate on conversion (affiliate_id, conv_ts desc, id desc);
create index conversion_advertiser on conversion (advertiser_id, conv_ts desc, id desc);
create index conversion_by_click on conversion (click_id);
create index conversion_by_email on conversion (workspace_id, email_hash, conv_ts desc) where email_hash is not null;
create index conversion_held on conversion (hold_until) where hold_until is not null and status = 'pending';
create index conversion_smart_link on conversion (smart_link_id) where smart_link_id is not null;
create index conversion_offer on conversion (offer_id, conv_ts desc, id desc);
create index conversion_txid on conversion (workspace_id, adv_txid, conv_ts desc, id desc) where adv_txid is not null;
create index conversion_by_ip on conversion (workspace_id, conv_ip) where conv_ip is not null;
-- Conversions that still know something of their visitor, by age: CONVERSION_RETENTION_DAYS.
create index conversion_described on conversion (conv_ts)
  where conv_ip is not null or email_hash is not null or phone_hash is not null
    or click ?| array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid'];
-- Whether an event is still used. Most conversions are of the default event, which cannot be deleted and is not in this index.
create index conversion_of_event on conversion (offer_id, event_code) where event_code <> 'default';
-- What waits for a decision of the staff.
create index conversion_waiting on conversion (workspace_id, conv_ts desc, id desc) include (status_reason)
  where status = 'pending';
-- What partners may still get, and advertisers may still owe (N33, N45): read without the table.
create index conversion_pending_payout on conversion (workspace_id, affiliate_id, currency) include (payout)
  where status = 'pending' and affiliate_id is not null;
create index conversion_pending_revenue on conversion (workspace_id, advertiser_id, currency) include (revenue)
  where status = 'pending';
create index conversion_alerted on conversion (workspace_id, conv_ts desc, id desc) where cap_alert;

-- No reference to the conversion: history is only written beside it, and it is never deleted. Checking that for every row would cost a look-up
-- and a lock each.
create table conversion_history (
  id bigint primary key generated always as identity,
  conversion_id uuid not null,
  at timestamptz(3) not null default now(),
  -- 'postback', 'pixel', 'api', 'hold'.
  actor text not null,
  key_id integer,
  from_status text,
  to_status text not null,
  reason text not null default '',
  from_revenue numeric(18, 4),
  to_revenue numeric(18, 4) not null,
  from_payout numeric(18, 4),
  to_payout numeric(18, 4) not null,
  from_sale_amount numeric(18, 4),
  to_sale_amount numeric(18, 4) not null,
  person_id integer
);
create index conversion_history_conversion on conversion_history (conversion_id, id);

-- The order numbers of events, each once.
create table event_order (
  offer_id integer not null,
  adv_txid text not null,
  event_code text not null,
  conversion_id uuid not null,
  primary key (offer_id, adv_txid, event_code)
);

-- Everything counted against a cap. Locked in order of (cap, bucket_start) by every conversion (P17).
create table cap_counter (
  cap text not null,
  bucket_start timestamptz not null,
  used numeric(22, 4) not null default 0,
  -- The limit at which a conversion was last refused although something of it was left. Caps of money whose prices are all percentages count as
  -- reached from then on (G231).
  refused_limit numeric(22,4),
  primary key (cap, bucket_start)
) with (fillfactor = 50);
-- For retention.
create index cap_counter_age on cap_counter (bucket_start) where bucket_start > '-infinity';

-- What unique clicks have cost in a period of a cap of payout or revenue (G232). The click writers store absolute totals that only grow.
create table cap_click_money (
  cap text not null,
  bucket_start timestamptz not null,
  offer_id integer not null,
  amount numeric(22,4) not null,
  primary key (cap, bucket_start, offer_id)
) with (fillfactor = 50);
create index cap_click_money_age on cap_click_money (bucket_start) where bucket_start > '-infinity';

-- Addresses of the conversions that were taken on offers which count them (G101), for as long as they count: a day. `network`
-- is the /24, or the /48 of IPv6.
create table conversion_address (
  offer_id integer not null,
  network inet not null,
  address inet not null,
  conv_ts timestamptz(3) not null,
  conversion_id uuid not null
);
create index conversion_address_network on conversion_address (offer_id, network, conv_ts);
create index conversion_address_age on conversion_address using brin (conv_ts);

-- Idempotency keys of reports (G203): the first answer of each, for 7 days.
create table report_key (
  workspace_id integer not null,
  -- Whose token it was: 0 for the workspace's own.
  advertiser_id integer not null,
  key text not null,
  -- Of the report that came with it, as in conversion.report_fingerprint.
  fingerprint bytea not null,
  -- {taken} for what was recorded or changed, {reply} for every other answer.
  answer jsonb not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, advertiser_id, key)
);
create index report_key_age on report_key using brin (created_at);
-- Keys of reports by the conversion that they were answered with.
create index report_key_conversion on report_key ((coalesce(answer #>> '{taken,conversionId}', answer ->> 'conversionId')))
  where coalesce(answer #>> '{taken,conversionId}', answer ->> 'conversionId') is not null;

-- Clicks that coupons stand for (G115, TRK-037), from the commit of their conversion until somebody has found them stored.
create table coupon_click (
  click_id text primary key,
  conversion_id uuid not null,
  -- As ingress records it.
  click jsonb not null,
  -- Only the ingress with this journal may record it, until this moment of its own clock (UTC milliseconds).
  producer integer not null,
  until_ms bigint not null,
  -- When it is looked for next; whoever looks moves it on.
  due_at timestamptz(3) not null default clock_timestamp() + interval '2 seconds'
);
create index coupon_click_due on coupon_click (due_at);
create index coupon_click_producer on coupon_click (producer);

-- Who must not record a coupon's click any more (TRK-037), because the right to it passed on. A journal that comes home after that
-- may still have the click; the click writer then leaves it out. Readers ask for what was added since they last asked.
create table coupon_click_passed (
  click_id text not null,
  producer integer not null,
  added_at timestamptz(3) not null default clock_timestamp(),
  primary key (click_id, producer)
);
create index coupon_click_passed_added on coupon_click_passed (added_at);

-- === Rates and costs ===

-- Reference rates: of the installation, and of a single workspace (G201).
create table fx_rate (
  date date not null,
  currency text not null,
  -- Units of the currency per EUR.
  rate numeric(24, 10) not null check (rate > 0),
  source text not null default 'manual',
  updated_at timestamptz(3) not null default now(),
  primary key (date, currency)
);
create index fx_rate_currency on fx_rate (currency, date desc);

create table workspace_fx_rate (
  workspace_id integer not null references workspace,
  currency text not null,
  date date not null,
  -- Units of the currency per EUR.
  rate numeric(24, 10) not null check (rate > 0),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, currency, date)
);
create index workspace_fx_rate_list on workspace_fx_rate (workspace_id, date desc, currency desc);

-- What became of the daily feed of reference rates. One row.
create table fx_feed (
  id boolean primary key default true check (id),
  -- `off`, or the host of the feed.
  source text not null,
  attempted_at timestamptz,
  succeeded_at timestamptz,
  -- The newest day that the feed had.
  newest_day date,
  -- Why the last attempt failed; empty if it did not.
  error text not null default ''
);

-- Media spend, as it was paid: the system of record of the ad costs that reports show.
create table ad_cost (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- A day and an hour of the calendar, in no time zone: the ad platform's statement names them so.
  date date not null check (date between '1970-01-01' and '2099-12-31'),
  hour smallint check (hour between 0 and 23),
  offer_id integer references offer,
  -- That of the offer when the cost was last written (G75).
  advertiser_id integer references advertiser,
  affiliate_id integer references affiliate,
  traffic_source text not null,
  ext_campaign_id text not null,
  ext_adgroup_id text not null,
  currency text not null,
  amount numeric(18, 4) not null check (amount >= 0),
  -- Rises with every change; ClickHouse keeps the highest.
  version integer not null default 1,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  -- Everything but the amount: whoever sends a cost again sets it (G75).
  constraint ad_cost_key unique nulls not distinct
    (workspace_id, date, hour, offer_id, affiliate_id, currency, traffic_source, ext_campaign_id, ext_adgroup_id)
);
create index ad_cost_list on ad_cost (workspace_id, date desc, id desc);
create index ad_cost_offer on ad_cost (offer_id, date desc, id desc) where offer_id is not null;
create index ad_cost_affiliate on ad_cost (affiliate_id, date desc, id desc) where affiliate_id is not null;
create index ad_cost_source on ad_cost (workspace_id, traffic_source, date desc, id desc);
create index ad_cost_currency on ad_cost (workspace_id, currency, date desc, id desc);
create trigger ids_are_verified before insert on ad_cost for each statement execute function refuse_unverified_ids();

-- === Copies in ClickHouse ===

-- Changes that ClickHouse has not seen yet; written in the transaction of the change, removed after the insert.
create table conversion_fact_outbox (
  id bigint primary key generated always as identity,
  conversion_id uuid not null
);

create table ad_cost_fact_outbox (
  id bigint primary key generated always as identity,
  ad_cost_id bigint not null
);

-- Which process copies conversion facts. It only spares double work: the copies themselves are idempotent.
create table fact_relay_lease (
  id integer primary key default 1 check (id = 1),
  owner text not null default '',
  expires_at timestamptz(3) not null default '-infinity'
);

-- The audit of facts: ClickHouse's copies of conversions and ad costs compared with their records.
create table fact_audit (
  -- 'recent': the last days, every hour. 'all': every day, once a night.
  scope text primary key,
  -- Rises whenever an audit begins, also when the one before has not reached its end.
  run integer not null default 0,
  finished_run integer not null default 0,
  begun_at timestamptz(3) not null default '-infinity',
  finished_at timestamptz(3) not null default '-infinity',
  -- The last span that was compared: {"table", "workspaceId", "fromMs"}. A process that takes over goes on behind it.
  position jsonb,
  -- Differences found in this run.
  found bigint not null default 0
);

-- A number that both stores remember, so that the one that went back to an older state is noticed (G206). The pending mark is
-- written here, then in ClickHouse, then here as the confirmed one.
create table fact_mark (
  id smallint primary key check (id = 1),
  confirmed_number bigint not null,
  confirmed_token text not null,
  pending_number bigint not null,
  pending_token text not null
);

-- When a server was last seen to have started: it forgets only by being started on other data, or after a power cut.
create table fact_store_start (
  -- 'postgres', or 'clickhouse ' and the name of the host.
  server text primary key,
  started_at timestamptz(3) not null
);

-- === Messages ===

-- Events for webhooks and postbacks: written in the transaction of the change, sent by the role `delivery`.
\ir ../functions/revive_endpoint.sql

-- Outgoing partner postbacks (section 2.10). Read by the transaction that changes a conversion, and so in force at once.
create table postback (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Null fires for every partner.
  affiliate_id integer references affiliate,
  -- Null fires for every offer of the workspace (N35).
  offer_id integer references offer,
  -- Null fires for every event that is not private.
  event_code text,
  kind text not null default 's2s' check (kind in ('s2s', 'html', 'capi')),
  method text not null default 'GET' check (method in ('GET', 'POST')),
  url text not null,
  body text not null default '',
  fire_on text not null default 'approved' check (fire_on in ('approved', 'any', 'reversal')),
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  -- Why the service has disabled it.
  disabled_reason text not null default '',
  -- Deliveries that failed for good since the last one that arrived.
  failed_in_row integer not null default 0,
  created_by_affiliate boolean not null default false,
  -- What shares slots: the host and port. Where a macro is the host, all that it may become are one.
  destination text not null generated always as (
    left(coalesce(lower(substring(url from '(?i)^https?://(?:[^/?#@]*@)?([^/?#]*)')), ''), 255)) stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index postback_list on postback (workspace_id, created_at desc, id desc);
-- The list of a partner's own postbacks.
create index postback_affiliate on postback (affiliate_id, created_at desc, id desc);
create index postback_offer on postback (offer_id, created_at desc, id desc);
create index postback_fires on postback (offer_id, affiliate_id) where status = 'active';
create index postback_fires_for_all on postback (workspace_id, affiliate_id) where status = 'active' and offer_id is null;
create index postback_disabled on postback (workspace_id, created_at desc, id desc) where status = 'disabled';
create trigger revive before update of status on postback
  for each row when (new.status = 'active' and old.status <> 'active') execute function revive_endpoint();
create trigger ids_are_verified before insert on postback for each statement execute function refuse_unverified_ids();

-- Once per conversion, postback and trigger (T09), longer than the delivery itself is kept.
create table postback_firing (
  conversion_id uuid not null,
  postback_id integer not null,
  trigger text not null,
  delivery_id uuid not null,
  primary key (conversion_id, postback_id, trigger)
);

-- Webhooks (section 6.2): what happened in a workspace, told as signed documents.
create table webhook (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  name text not null,
  url text not null,
  events text[] not null,
  active boolean not null default true,
  -- The whole text is the key of the signature (G131).
  secret text not null check (secret ~ '^whsec_[0-9a-f]{48}$'),
  -- Why the service has switched it off.
  disabled_reason text not null default '',
  -- Deliveries that failed for good since the last one that arrived.
  failed_in_row integer not null default 0,
  -- What shares slots.
  destination text not null generated always as (
    left(coalesce(lower(substring(url from '(?i)^https?://(?:[^/?#@]*@)?([^/?#]*)')), ''), 255)) stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index webhook_list on webhook (workspace_id, created_at desc, id desc);
create index webhook_subscriber on webhook (workspace_id) where active;
create trigger revive before update of active on webhook
  for each row when (new.active and not old.active) execute function revive_endpoint();
create trigger ids_are_verified before insert on webhook for each statement execute function refuse_unverified_ids();

-- One thing to tell one endpoint. What is sent is made from the row by its kind; how it is queued, leased, repeated and logged
-- is the same for all kinds.
create table delivery (
  id uuid primary key default gen_random_uuid(),
  workspace_id integer not null,
  kind text not null check (kind in ('postback', 'webhook')),
  -- Of the kind's own table.
  endpoint_id integer not null,
  -- What shares slots: one destination that hangs takes no others'.
  destination text not null,
  conversion_id uuid,
  -- Of postbacks: 'approved', 'pending', 'rejected', 'reversal'.
  trigger text not null default '',
  -- Of webhooks.
  event text not null default '',
  event_id uuid,
  -- What may be different by the time it is sent, as it was in the transaction of the change (T10).
  facts jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'retrying', 'failed')),
  attempts integer not null default 0,
  -- Attempts before the last retry by hand, which allows all attempts again.
  attempts_before integer not null default 0,
  -- When it is sent next, or, while `lease_token` is set, when its worker is given up. Null once it has ended.
  due_at timestamptz(3) default clock_timestamp(),
  lease_token uuid,
  -- Of the last attempt.
  url text not null default '',
  error text not null default '',
  response_status integer,
  response_body text not null default '',
  created_at timestamptz(3) not null default clock_timestamp(),
  finished_at timestamptz(3),
  -- Of the request that caused the change; null for a change that no request caused, such as the end of a hold.
  request_id text,
  traceparent text
) with (autovacuum_vacuum_scale_factor = 0.02);
create index delivery_list on delivery (kind, endpoint_id, created_at desc, id desc);
create index delivery_finished on delivery (finished_at) where finished_at is not null;
-- Of what always arrives, what did not is rare.
create index delivery_trouble on delivery (kind, endpoint_id, created_at desc, id desc) where status in ('retrying', 'failed');
-- The queue is read by endpoint: slots are by endpoint first, then by host and port (G204).
create index delivery_queue on delivery (destination, kind, endpoint_id, due_at) where due_at is not null;
create index delivery_conversion on delivery (conversion_id) where conversion_id is not null;

-- Each request of a delivery and what came of it, written with its result. Numbers count through retries by hand. A number without a
-- row had no known result: its worker ended before it could record one. Without a foreign key, whose check at each attempt would take as
-- long as the row itself: the result is written under the lock of its delivery.
create table delivery_attempt (
  delivery_id uuid not null,
  number integer not null,
  sent_at timestamptz(3) not null,
  duration_ms integer not null,
  status text not null check (status in ('delivered', 'retrying', 'failed')),
  -- Null for HTML that a page carried.
  method text check (method in ('GET', 'POST')),
  url text not null,
  -- Null for the document of a webhook, which is the same at each attempt: `delivery.facts` has it.
  body text,
  error text not null,
  response_status integer,
  response_body text not null,
  primary key (delivery_id, number)
);
\ir ../functions/forget_attempts.sql
create trigger forget_attempts after delete on delivery
  referencing old table as gone for each statement execute function forget_attempts();

-- After a restore, deliveries that were sent since the backup are due again. While this row is there, none is sent.
create table delivery_hold (
  id integer primary key default 1 check (id = 1),
  held_at timestamptz(3) not null default now(),
  reason text not null
);

-- === The inbound log ===

-- By day (UTC): what is too old is dropped with its partition, at any rate of calls. Rows of a day without a partition go to
-- `postback_log_other`, so a missing partition never fails an insert.
create sequence postback_log_number;

create table postback_log (
  id bigint not null default nextval('postback_log_number'),
  workspace_id integer,
  ts timestamptz(3) not null default now(),
  endpoint text not null,
  ip inet,
  token_owner text not null default '',
  params jsonb not null default '{}',
  http_status integer not null,
  result text not null,
  click_id text,
  conversion_id uuid,
  message text not null default '',
  request_id text,
  -- What a call was about, as far as it is known. Null in rows that many calls share.
  advertiser_id integer,
  offer_id integer,
  event_id integer
) partition by range (ts);
create index postback_log_list on postback_log (workspace_id, ts desc, id desc);
create index postback_log_click on postback_log (click_id, ts desc, id desc) where click_id is not null;
create index postback_log_conversion on postback_log (conversion_id, ts desc, id desc) where conversion_id is not null;
-- What most rows of a log share stays out of the index: a common result is found on the way through the list.
create index postback_log_result on postback_log (workspace_id, result, ts desc, id desc) where result <> 'approved';
create index postback_log_advertiser on postback_log (advertiser_id, ts desc, id desc)
  include (offer_id, event_id, result) where advertiser_id is not null;

create table postback_log_other partition of postback_log default;

-- === Erasures ===

-- Erasures (G207), kept so that they also hold for rows that are stored later: for clicks, reports, rows of the inbound log and results of
-- deliveries that were on their way. Of an e-mail or address only keyed hashes are kept.
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
  -- Readers ask for what was added since they last asked.
  added_at timestamptz(3) not null default clock_timestamp(),
  primary key (erasure_id, click_id)
);
create index erased_click_added on erased_click (added_at);
create index erased_click_id on erased_click (click_id);

-- One erasure at a time, by a lease in a row and not by a lock of a session.
create table erasure_lease (
  id integer primary key check (id = 1),
  token uuid,
  expires_at timestamptz(3) not null default '-infinity'
);

-- === Imports ===

-- Files of records that were sent to be imported, one row each. Any api process runs one; api/workspace/imports/stored-import.ts has the states.
create table import (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Who sent it: a person or a key. It is carried out with the rights that the key or the membership has at that time.
  key_id integer references api_key,
  person_id integer references person,
  -- Of the person; a membership that is removed stops the import.
  membership_id integer,
  -- Name of the key or the person.
  created_by text not null,
  -- Whether a person had proved a factor within ten minutes before sending it.
  is_fresh boolean not null,
  -- Of the request that sent it.
  request_id text not null,
  kind text not null check (kind in ('offers', 'affiliates', 'advertisers')),
  name text not null,
  format text not null check (format in ('csv', 'json')),
  delimiter text not null,
  is_dry_run boolean not null,
  is_update boolean not null,
  skips_faulty boolean not null,
  -- 'uploading' while its file arrives: nobody sees it, and it is deleted if the file does not arrive whole.
  status text not null check (status in ('uploading', 'queued', 'checking', 'writing', 'done', 'refused', 'failed', 'stopped')),
  -- Why it has ended in another way than 'done'.
  message text not null default '',
  bytes integer not null default 0,
  -- Number of its rows in import_part.
  parts integer not null default 0,
  -- Identifies the content with its kind and `is_update`: request_id of its notes in audit_log. Empty while it arrives.
  record_id text not null default '',
  -- The faults of the first faulty rows.
  faults jsonb not null default '[]',
  rows_checked integer not null default 0,
  rows_faulty integer not null default 0,
  rows_to_create integer not null default 0,
  rows_to_update integer not null default 0,
  rows_already_written integer not null default 0,
  rows_created integer not null default 0,
  rows_updated integer not null default 0,
  rows_left_out integer not null default 0,
  -- Runs since a row was written last. An import that ends its process every time is given up.
  attempts integer not null default 0,
  -- Of the run that goes on. Whoever changes the status ends the run with it.
  lease_token uuid,
  -- When the next run may begin: the one that goes on has noted nothing for long, or it is tried again.
  leased_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  ended_at timestamptz(3),
  check (num_nonnulls(person_id, key_id) = 1)
);
create index import_list on import (workspace_id, created_at desc, id desc);
create index import_unfinished on import (id) where ended_at is null;
-- The same file with the same options is imported once at a time.
create unique index import_once on import (workspace_id, record_id, format, delimiter, is_dry_run, skips_faulty)
  where status in ('queued', 'checking', 'writing');
create index import_ended on import (ended_at) where ended_at is not null;
create index import_of_key on import (key_id) where key_id is not null;
create index import_of_person on import (person_id) where person_id is not null;
create trigger ids_are_verified before insert on import for each statement execute function refuse_unverified_ids();

-- The content of a file in pieces, until its import has ended.
create table import_part (
  import_id integer not null references import on delete cascade,
  -- Counted from 0.
  number integer not null,
  bytes bytea not null,
  -- By a key of SECRETS_KEY, because files of partners have payment details. Without a key a file waits as it came.
  is_sealed boolean not null default false,
  primary key (import_id, number)
);

-- === Billing ===

-- The money side of a network: what is owed, and what was paid.
\ir ../billing/ledger.sql
\ir ../billing/statements.sql
\ir ../billing/payouts.sql
\ir ../billing/invoices.sql
\ir ../billing/conversion-updates.sql

-- === Functions ===

\ir ../functions/share_a_host.sql
\ir ../functions/is_producer_quiet.sql
\ir ../functions/take_report_place.sql

-- Values.
\ir ../functions/iso_time.sql
\ir ../functions/earned.sql
\ir ../functions/charged.sql
\ir ../functions/network_of.sql
\ir ../functions/keyed_hash.sql
\ir ../functions/has_any.sql

-- Caps.
\ir ../functions/cap_bucket_start.sql
\ir ../functions/is_cap_reached.sql
\ir ../functions/lock_caps.sql
\ir ../functions/check_caps.sql
\ir ../functions/cap_counts.sql
\ir ../functions/count_caps.sql

-- Idempotency keys of reports.
\ir ../functions/report_key_lock.sql
\ir ../functions/find_report_key.sql
\ir ../functions/add_report_key.sql
\ir ../functions/keep_report_key.sql

-- How a conversion is written. Each function is one statement of the processor and so one transaction: row, cap counters, history and outbox
-- are there together or not at all (G195), and no lock is held over a round trip.

-- What the caller says about how to record; see record_conversion.
create type conversion_plan as (
  on_txid text,
  on_click text,
  on_none text,
  latest_of_click boolean,
  may_be_multiple boolean,
  caps jsonb,
  -- {address, same_max, network_max}: conversions of one address and of one network that a day may bring; null for no limit.
  address_limit jsonb,
  timezone text,
  actor text,
  key_id integer,
  cause jsonb,
  -- Whether the report says which event it means.
  names_event boolean
);

-- A change of a conversion; `before` is null for a new one.
create type conversion_change as (
  before conversion,
  after conversion
);

\ir ../functions/lock_conversions.sql
\ir ../functions/find_conversion.sql
\ir ../functions/address_check.sql
\ir ../functions/conversion_state.sql
\ir ../functions/record_conversion.sql
\ir ../functions/record_conversions.sql
\ir ../functions/try_conversion.sql

-- How a conversion is changed.
\ir ../functions/changed_conversion.sql
\ir ../functions/change_conversions.sql
\ir ../functions/change_conversion.sql
\ir ../functions/change_by_report.sql
\ir ../functions/change_by_keyed_report.sql
\ir ../functions/try_change_by_report.sql
\ir ../functions/conversion_as_asked.sql
\ir ../functions/change_as_asked.sql
\ir ../functions/set_conversion_status.sql
\ir ../functions/release_due_holds.sql

-- What follows from a change.
\ir ../functions/after_conversion_changes.sql
\ir ../functions/after_conversion_change.sql
\ir ../functions/queue_postbacks.sql
\ir ../functions/has_subscriber.sql
\ir ../functions/event_document.sql
\ir ../functions/conversion_document.sql
\ir ../functions/queue_event.sql
\ir ../functions/queue_conversion_event.sql

-- Confirmation by file.
\ir ../functions/conversion_update_state.sql
\ir ../functions/find_update_conversions.sql
\ir ../functions/judge_update_row.sql
\ir ../functions/check_update_rows.sql
\ir ../functions/add_missing_conversions.sql
\ir ../functions/apply_changed_update_row.sql
\ir ../functions/apply_update_rows.sql
\ir ../functions/conversions_on_approved_statements.sql
\ir ../functions/restored_conversion.sql
\ir ../functions/undo_update_rows.sql
\ir ../functions/summarize_conversion_update.sql
\ir ../functions/step_conversion_update.sql

-- Deliveries.
\ir ../functions/waiting_endpoints.sql
\ir ../functions/settle_delivery.sql
\ir ../functions/count_endpoint_outcome.sql

-- The inbound log.
\ir ../functions/end_of_partition.sql
\ir ../functions/make_postback_log_days.sql
\ir ../functions/drop_postback_log_days.sql
\ir ../functions/forget_other_postback_log.sql

-- Erasures and retention.
\ir ../functions/erasure_key.sql
\ir ../functions/is_click_erased.sql
\ir ../functions/erased_addresses.sql
\ir ../functions/without_ad_ids.sql
\ir ../functions/without_person.sql
\ir ../functions/without_hashed.sql
\ir ../functions/has_hashed_address.sql
\ir ../functions/row_without_erased.sql
\ir ../functions/log_row_without_erased.sql
\ir ../functions/forget_visitors_of_conversions.sql

-- === Rows from the start ===

insert into catalog_log (version) values (0);
-- Row 0 is the mark of this transaction: without the setting, the version of the row below would write another one.
select set_config('tracker.catalog_is_logged', 'yes', true);
insert into installation default values;
insert into store_beat default values;
insert into erasure_lease (id) values (1);
insert into fact_relay_lease default values;
insert into fact_audit (scope) values ('recent'), ('all');
insert into fact_mark values (1, 0, '', 0, '');
select make_postback_log_days(14);
