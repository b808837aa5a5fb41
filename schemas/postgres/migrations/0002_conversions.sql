-- Conversions: the system of record of everything that is paid.

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
  updated_at timestamptz(3) not null default now()
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

create table conversion_history (
  id bigint primary key generated always as identity,
  conversion_id uuid not null references conversion,
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
  to_sale_amount numeric(18, 4) not null
);
create index conversion_history_conversion on conversion_history (conversion_id, id);

-- Changes that ClickHouse has not seen yet; written in the transaction of the change, removed after the insert.
create table conversion_fact_outbox (
  id bigint primary key generated always as identity,
  conversion_id uuid not null
);

-- Everything counted against a cap. Locked in order of (cap, bucket_start) by every conversion (P17).
create table cap_counter (
  cap text not null,
  bucket_start timestamptz not null,
  used numeric(22, 4) not null default 0,
  primary key (cap, bucket_start)
) with (fillfactor = 50);

create table fx_rate (
  date date not null,
  currency text not null,
  -- Units of the currency per EUR.
  rate numeric(24, 10) not null check (rate > 0),
  source text not null default 'manual',
  updated_at timestamptz(3) not null default now(),
  primary key (date, currency)
);

create table postback_log (
  id bigint primary key generated always as identity,
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
  message text not null default ''
);
create index postback_log_list on postback_log (workspace_id, ts desc, id desc);

create table audit_log (
  id bigint primary key generated always as identity,
  workspace_id integer not null,
  ts timestamptz(3) not null default now(),
  key_id integer,
  user_name text not null default '',
  action text not null,
  ip inet,
  status integer not null,
  request_id text not null
);
create index audit_log_list on audit_log (workspace_id, ts desc, id desc);
