-- === The ledger ===

-- Double entry, append-only: a record of money is never updated or deleted, and a correction is a further record that names the first
-- (N8). Triggers refuse everything else, whoever asks.
\ir ../functions/refuse_ledger_change.sql
\ir ../functions/refuse_unbalanced_entries.sql
\ir ../functions/refuse_empty_transaction.sql

-- What a workspace has set about billing (N36). Without a row nothing is posted.
create table billing_settings (
  workspace_id integer primary key references workspace,
  enabled boolean not null default false,
  -- Conversions created since the beginning of this day of the workspace are posted; older ones belong to the old books.
  starts_on date,
  -- Whose transaction switched billing on.
  enabled_xid xid8,
  -- Set by the lane when it first sees the switch. Older transactions may have looked before it; when none of them is under way, the lane
  -- posts what they recorded (`backfill_ledger`).
  backfill_xid xid8,
  -- Up to which row of the history the lane has posted what was recorded before; null until it has begun, the largest number at the end.
  backfilled_to bigint,
  legal jsonb not null default '{}',
  approval text not null default 'single' check (approval in ('single', 'four_eyes')),
  auto_approve boolean not null default false,
  statement_prefix text not null default 'S-{year}-',
  invoice_prefix text not null default 'I-{year}-',
  period_grace_hours integer not null default 2 check (period_grace_hours between 0 and 168),
  payment_change_hold_hours integer not null default 48 check (payment_change_hold_hours between 0 and 720),
  wallet_names jsonb not null default '{}',
  default_tax_text text not null default '',
  language text not null default 'en',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (not enabled or starts_on is not null)
);

create table ledger_account (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  kind text not null check (kind in ('partner_payable', 'advertiser_receivable', 'revenue', 'payout_cost', 'adjustment_cost',
    'clearing', 'tax_in', 'tax_out')),
  -- The partner or the advertiser; 0 for an account of the network itself.
  owner_id integer not null default 0,
  currency text not null,
  unique (workspace_id, kind, owner_id, currency),
  check ((owner_id > 0) = (kind in ('partner_payable', 'advertiser_receivable')))
);
create trigger ids_are_verified before insert on ledger_account for each statement execute function refuse_unverified_ids();

-- One fact: a change of a conversion, a day of clicks, an adjustment, a tax, a payment. `source_kind` and `source_id` name the fact, so
-- that it is posted once however often it is delivered.
create table ledger_transaction (
  id bigint primary key generated always as identity,
  workspace_id integer not null,
  -- Read under the locks of the accounts; it never falls along the entries of an account.
  posted_at timestamptz(3) not null,
  kind text not null check (kind in ('conversion', 'clicks', 'adjustment', 'write_off', 'statement_tax', 'invoice_tax', 'payout',
    'payout_return', 'payment', 'credit_note')),
  source_kind text not null,
  source_id text not null,
  description text not null default '',
  reverses_id bigint,
  key_id integer,
  person_id integer,
  unique (workspace_id, source_kind, source_id)
);
create index ledger_transaction_list on ledger_transaction (workspace_id, posted_at desc, id desc);
create trigger ids_are_verified before insert on ledger_transaction for each statement execute function refuse_unverified_ids();
create trigger is_final before update or delete or truncate on ledger_transaction
  for each statement execute function refuse_ledger_change();

-- Debits are positive, credits negative. No reference to the transaction: the check of such a reference locks the row that it names, and
-- nobody may change it. `post_entries` writes both.
create table ledger_entry (
  account_id bigint not null,
  -- 1, 2, 3 … for each account without a gap, so that a statement is a range of them (N38).
  seq bigint not null,
  transaction_id bigint not null,
  amount numeric(18, 4) not null check (amount <> 0),
  -- Of the transaction.
  posted_at timestamptz(3) not null,
  kind text not null,
  conversion_id uuid,
  offer_id integer,
  event_code text,
  -- How many conversions or clicks this is; negative where they are taken back.
  count bigint not null default 0,
  primary key (account_id, seq)
);
create index ledger_entry_transaction on ledger_entry (transaction_id);
create index ledger_entry_conversion on ledger_entry (conversion_id, account_id, seq) where conversion_id is not null;
create index ledger_entry_posted on ledger_entry (account_id, posted_at, seq);
create trigger is_final before update or delete or truncate on ledger_entry
  for each statement execute function refuse_ledger_change();
create trigger is_balanced after insert on ledger_entry
  referencing new table as added for each statement execute function refuse_unbalanced_entries();
-- At the end of the transaction of the database: no transaction without entries is left.
create constraint trigger has_entries after insert on ledger_transaction
  deferrable initially deferred for each row execute function refuse_empty_transaction();

-- Where an account stands. Whoever posts locks the rows of all its accounts, in the order of their numbers.
create table ledger_balance (
  account_id bigint primary key references ledger_account,
  balance numeric(22, 4) not null default 0,
  last_seq bigint not null default 0,
  last_posted_at timestamptz(3) not null default '-infinity'
) with (fillfactor = 50);

-- Changes of conversions that the lane has not posted yet; written in the transaction of the change (N39).
create table ledger_outbox (
  history_id bigint not null,
  workspace_id integer not null,
  queued_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, history_id)
);

-- Changes of conversions that belong to the old books: the conversion was created before `starts_on` (N36).
create table ledger_unposted (
  history_id bigint primary key,
  workspace_id integer not null,
  conversion_id uuid not null,
  at timestamptz(3) not null
);
create index ledger_unposted_list on ledger_unposted (workspace_id, at desc, history_id desc);

-- How often the clicks of a day have been read for the ledger (N40). The row is locked by whoever posts them.
create table ledger_click_day (
  workspace_id integer not null references workspace,
  -- Of the workspace's time zone.
  day date not null,
  readings integer not null default 0,
  read_at timestamptz(3),
  primary key (workspace_id, day)
);

-- What is posted of the clicks of a day, so that a later reading posts the difference.
create table ledger_click_total (
  workspace_id integer not null,
  day date not null,
  offer_id integer not null,
  -- 0 for clicks without a partner.
  affiliate_id integer not null,
  advertiser_id integer not null,
  currency text not null,
  payout numeric(18, 4) not null,
  revenue numeric(18, 4) not null,
  -- Clicks with a payout, and with a revenue.
  payout_clicks bigint not null,
  revenue_clicks bigint not null,
  -- How often this offer and partner were posted.
  version integer not null,
  primary key (workspace_id, day, offer_id, affiliate_id, advertiser_id, currency)
);

-- What somebody corrected by hand (N43). Each is one transaction of the ledger, whose source it is.
create table adjustment (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  currency text not null,
  -- As the account feels it: positive means that the partner gets more, or that the advertiser owes more.
  amount numeric(18, 4) not null check (amount <> 0),
  kind text not null check (kind in ('bonus', 'deduction', 'correction', 'bounty', 'opening', 'write_off')),
  reason text not null,
  visible boolean not null default true,
  conversion_id uuid,
  reverses_id bigint unique references adjustment,
  key_id integer,
  person_id integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  check (num_nonnulls(affiliate_id, advertiser_id) = 1)
);
create index adjustment_list on adjustment (workspace_id, created_at desc, id desc);
create index adjustment_affiliate on adjustment (affiliate_id, created_at desc, id desc) where affiliate_id is not null;
create index adjustment_advertiser on adjustment (advertiser_id, created_at desc, id desc) where advertiser_id is not null;
create trigger ids_are_verified before insert on adjustment for each statement execute function refuse_unverified_ids();
create trigger is_final before update or delete or truncate on adjustment
  for each statement execute function refuse_ledger_change();

-- What the last audit of a workspace found (N42). A violation stops approvals until an audit finds none.
create table billing_audit (
  workspace_id integer primary key references workspace,
  audited_at timestamptz(3) not null,
  -- [{invariant, subject, expected, found}]
  violations jsonb not null default '[]'
);

-- How tax is added to what a partner is owed or an advertiser owes. Without a row: none.
create table tax_record (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  affiliate_id integer unique references affiliate,
  advertiser_id integer unique references advertiser,
  country text not null default '',
  vat_id text not null default '',
  mode text not null default 'none' check (mode in ('none', 'domestic', 'reverse_charge', 'exempt')),
  -- Percent.
  rate numeric(7, 4) not null default 0 check (rate between 0 and 100),
  updated_at timestamptz(3) not null default clock_timestamp(),
  check (num_nonnulls(affiliate_id, advertiser_id) = 1)
);

-- Documents and files of payments as they were made, for ever (N10). In Postgres: they are in its backup, every process of the api has them,
-- and a file and what it says are committed together.
create table billing_file (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Who may read it besides the staff; null for files of payout runs.
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  -- What it belongs to, and its format: `statement` 12 `pdf`.
  owner_kind text not null check (owner_kind in ('statement', 'invoice', 'payout_run')),
  owner_id bigint not null,
  format text not null,
  name text not null,
  media_type text not null,
  -- Of the file as it is answered, as its size is.
  sha256 bytea not null,
  size integer not null,
  bytes bytea not null,
  -- Whether `bytes` are sealed under SECRETS_KEY: files of payout runs have payment details.
  is_sealed boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (owner_kind, owner_id, format)
);
create trigger ids_are_verified before insert on billing_file for each statement execute function refuse_unverified_ids();
create trigger is_final before delete or truncate on billing_file for each statement execute function refuse_ledger_change();
-- Another key may seal the same file.
create trigger is_final_row before update on billing_file for each row
  when (not old.is_sealed or (to_jsonb(old) - 'bytes') is distinct from (to_jsonb(new) - 'bytes'))
  execute function refuse_ledger_change();

-- What was before and after a change of settings that decide about money (N13). Secrets are masked by whoever writes a row.
create table change_log (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  resource text not null,
  resource_id text not null default '',
  at timestamptz(3) not null default clock_timestamp(),
  key_id integer,
  person_id integer,
  -- Where the request came from.
  address inet,
  -- Only the fields that changed.
  before jsonb not null,
  after jsonb not null
);
create index change_log_list on change_log (workspace_id, at desc, id desc);
create index change_log_resource on change_log (workspace_id, resource, at desc, id desc);
create trigger ids_are_verified before insert on change_log for each statement execute function refuse_unverified_ids();

-- Answers to requests that make money, files or keys, by the key that their sender chose (N5), for 30 days.
create table idempotent_answer (
  workspace_id integer not null,
  key text not null,
  -- SHA-256 of method, path and body.
  fingerprint bytea not null,
  status integer not null,
  -- As it was sent: not jsonb, which would put the fields into another order.
  body json,
  -- Instead of the body, if it has a secret such as a new API key.
  sealed bytea,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, key),
  check (num_nonnulls(body, sealed) = 1)
);
create index idempotent_answer_age on idempotent_answer using brin (created_at);

-- An entry with the transaction that it belongs to: entries of one `place` are one transaction.
create type ledger_posting as (
  place integer,
  kind text,
  source_kind text,
  source_id text,
  description text,
  reverses_id bigint,
  key_id integer,
  person_id integer,
  account text,
  owner_id integer,
  currency text,
  amount numeric(18, 4),
  conversion_id uuid,
  offer_id integer,
  event_code text,
  count bigint
);
-- An account, and where it stands while its balance is locked.
create type ledger_standing as (
  account_id bigint,
  account text,
  owner_id integer,
  currency text,
  last_seq bigint,
  last_posted_at timestamptz(3)
);
-- A transaction of the call that was not posted before.
create type ledger_posted as (
  transaction_id bigint,
  place integer,
  kind text,
  source_kind text,
  source_id text
);
\ir ../functions/ledger_clock.sql
\ir ../functions/post_entries.sql
\ir ../functions/post_ledger.sql
\ir ../functions/post_conversions.sql
\ir ../functions/backfill_ledger.sql
\ir ../functions/post_clicks.sql
