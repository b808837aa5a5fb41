-- === Payout runs ===

create table payout_run (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  status text not null check (status in ('draft', 'approved', 'paid', 'failed', 'cancelled')),
  currency text not null,
  -- Empty: every method.
  methods text[] not null,
  -- The file that the run is for: lines whose details do not fit it are held.
  format text check (format in ('csv', 'paypal_csv', 'pain001', 'wise_csv')),
  due_until date not null,
  execution_date date not null,
  created_key_id integer,
  created_person_id integer,
  approved_key_id integer,
  approved_person_id integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  approved_at timestamptz(3),
  ended_at timestamptz(3)
);
create index payout_run_list on payout_run (workspace_id, created_at desc, id desc);
create trigger ids_are_verified before insert on payout_run for each statement execute function refuse_unverified_ids();

-- One payment to one partner.
create table payout_line (
  id bigint primary key generated always as identity,
  run_id bigint not null references payout_run,
  workspace_id integer not null,
  affiliate_id integer not null references affiliate,
  method text not null,
  currency text not null,
  amount numeric(18, 4) not null check (amount > 0),
  -- In every file and result (N54).
  reference text not null generated always as ('P' || run_id::text || 'L' || id::text) stored,
  status text not null check (status in ('pending', 'held', 'paid', 'failed', 'returned')),
  held_reason text,
  held_until timestamptz(3),
  -- Who let a held line go, and why.
  released_at timestamptz(3),
  released_key_id integer,
  released_person_id integer,
  release_reason text not null default '',
  -- The details with all but their ends left out, as answers show them.
  masked jsonb not null default '{}',
  -- Sealed under SECRETS_KEY as they were when the run was approved; what is exported later is what was approved.
  details bytea,
  external_id text,
  fee numeric(18, 4),
  error text not null default '',
  created_at timestamptz(3) not null default clock_timestamp(),
  settled_at timestamptz(3),
  unique (workspace_id, reference),
  check ((status = 'held') = (held_reason is not null))
);
create index payout_line_run on payout_line (run_id, id);
create index payout_line_affiliate on payout_line (affiliate_id, created_at desc, id desc);
create unique index payout_line_external on payout_line (workspace_id, external_id) where external_id is not null;
create trigger ids_are_verified before insert on payout_line for each statement execute function refuse_unverified_ids();

-- The statements that a line pays. A statement is in one line that may still be paid.
create table payout_line_statement (
  line_id bigint not null references payout_line,
  statement_id bigint not null references statement,
  amount numeric(18, 4) not null,
  -- False once the line failed, came back, was held at approval, or its run was cancelled: then another run may pay the statement.
  is_current boolean not null default true,
  primary key (line_id, statement_id)
);
create unique index payout_line_statement_once on payout_line_statement (statement_id) where is_current;

-- What the bank or the payment service reported, each report once.
create table payout_result (
  line_id bigint not null references payout_line,
  workspace_id integer not null,
  status text not null check (status in ('paid', 'failed', 'returned')),
  external_id text not null default '',
  amount numeric(18, 4),
  fee numeric(18, 4),
  at timestamptz(3) not null,
  error text not null default '',
  key_id integer,
  person_id integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (line_id, status, external_id)
);
create index payout_result_external on payout_result (workspace_id, external_id) where external_id <> '';

-- How a partner is paid, as the partner or the staff entered it in the form of its method. Details of a partner that has no row are in
-- affiliate.payment_details, the texts of the contract.
create table payment_account (
  affiliate_id integer primary key references affiliate,
  workspace_id integer not null,
  method text not null,
  -- The details as JSON, sealed under SECRETS_KEY for this partner.
  sealed bytea not null,
  masked jsonb not null,
  updated_at timestamptz(3) not null default clock_timestamp()
);

-- When and by whom a partner's way to be paid was changed: payouts wait after that (N32).
create table payment_method_change (
  id bigint primary key generated always as identity,
  workspace_id integer not null,
  affiliate_id integer not null references affiliate,
  at timestamptz(3) not null default clock_timestamp(),
  key_id integer,
  person_id integer,
  address inet
);
create index payment_method_change_affiliate on payment_method_change (affiliate_id, at desc);
