-- reads: 0040
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
  updated_at timestamptz(3) not null default now()
);
create trigger ids_are_verified before insert on person for each statement execute function refuse_unverified_ids();
create unique index person_email on person (lower(email));

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
create trigger ids_are_verified before insert on membership for each statement execute function refuse_unverified_ids();
create index membership_list on membership (workspace_id, created_at desc, id desc);
create index membership_of_affiliate on membership (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index membership_of_advertiser on membership (advertiser_id, created_at desc, id desc) where advertiser_id is not null;

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
  check (kind <> 'invitation' or (workspace_id is not null and email is not null and role is not null)),
  check (kind <> 'reset' or person_id is not null)
);
create trigger ids_are_verified before insert on one_time_link for each statement execute function refuse_unverified_ids();
create index one_time_link_list on one_time_link (workspace_id, created_at desc, id desc);
create index one_time_link_of_affiliate on one_time_link (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index one_time_link_of_advertiser on one_time_link (advertiser_id, created_at desc, id desc) where advertiser_id is not null;
create index one_time_link_of_person on one_time_link (person_id) where person_id is not null;
create index one_time_link_by_person on one_time_link (made_by) where made_by is not null;

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
create trigger ids_are_verified before insert on passkey for each statement execute function refuse_unverified_ids();
create index passkey_person on passkey (person_id, id);

create table oidc_identity (
  issuer text not null,
  subject text not null,
  person_id integer not null references person,
  primary key (issuer, subject)
);

-- Nothing here outlives a few minutes, so it needs no write-ahead log.
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

-- A sign-in of somebody without a membership belongs to no workspace: 0.
alter table audit_log add column person_id integer;
alter table conversion_history add column person_id integer;

-- The person who changed a conversion comes along in `cause`, like the request.
create or replace function after_conversion_change(before conversion, after conversion, actor text, key_id integer, cause jsonb default null)
returns void language plpgsql as $$
begin
  insert into conversion_history (conversion_id, at, actor, key_id, person_id, from_status, to_status, reason, from_revenue,
    to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
  values (after.id, clock_timestamp(), actor, key_id, (cause ->> 'person_id')::integer, before.status, after.status,
    after.status_reason, before.revenue, after.revenue, before.payout, after.payout, before.sale_amount, after.sale_amount);
  insert into conversion_fact_outbox (conversion_id) values (after.id);
  perform queue_postbacks(before, after, cause);
  perform queue_conversion_event(before, after, cause);
end $$;
