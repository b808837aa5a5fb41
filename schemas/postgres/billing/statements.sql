-- === Statements ===

\ir ../functions/keep_payment_terms.sql

-- Which terms a partner had before each change (N47).
create table payment_terms_change (
  affiliate_id integer not null references affiliate on delete cascade,
  at timestamptz(3) not null,
  terms_before text not null
);
create index payment_terms_change_affiliate on payment_terms_change (affiliate_id, at);
create trigger keep_payment_terms after update of payment_terms on affiliate
  for each row when (old.payment_terms is distinct from new.payment_terms) execute function keep_payment_terms();

-- Numbers of documents, each series without a gap: the row is locked by the transaction that takes a number (N49).
create table billing_series (
  workspace_id integer not null references workspace,
  kind text not null check (kind in ('statement', 'invoice', 'credit_note')),
  -- What stands before the number, with its year: `S-2026-`.
  prefix text not null,
  last_number integer not null default 0,
  primary key (workspace_id, kind, prefix)
);

-- What a partner is owed for a range of the entries of its account. Ranges adjoin (I6): `refuse_gap_in_statements`.
create table statement (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  affiliate_id integer not null references affiliate,
  account_id bigint not null references ledger_account,
  currency text not null,
  -- Given at approval.
  number text,
  status text not null check (status in ('draft', 'approved', 'in_payout', 'paid', 'carried', 'void')),
  terms text not null,
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  timezone text not null,
  -- Entries with from_seq < seq <= to_seq.
  from_seq bigint not null,
  to_seq bigint not null,
  carried_in numeric(18, 4) not null,
  total numeric(18, 4) not null,
  -- In the currency of the statement; null where the partner's minimum is in another currency and the day has no rate: not reached (N48).
  min_payout numeric(18, 4),
  payable numeric(18, 4) not null,
  -- {mode, rate, text}; `tax_amount` is posted at approval.
  tax jsonb not null default '{"mode": "none", "rate": "0", "text": ""}',
  tax_amount numeric(18, 4) not null default 0,
  gross numeric(18, 4) not null,
  carried_out numeric(18, 4) not null,
  due_on date not null,
  -- Names, addresses and numbers of both sides as they were at approval, so that the document never changes: {issuer, recipient, language}.
  parties jsonb,
  created_at timestamptz(3) not null default clock_timestamp(),
  approved_at timestamptz(3),
  approved_key_id integer,
  approved_person_id integer,
  paid_at timestamptz(3),
  voided_at timestamptz(3),
  check (from_seq <= to_seq),
  check (total = payable + carried_out),
  check (gross = payable + tax_amount),
  check ((number is null) = (status in ('draft', 'carried', 'void'))),
  check (payable >= 0)
);
create unique index statement_number on statement (workspace_id, number) where number is not null;
create unique index statement_range on statement (account_id, to_seq, period_to) where status <> 'void';
create index statement_list on statement (workspace_id, created_at desc, id desc);
create index statement_affiliate on statement (affiliate_id, created_at desc, id desc);
create index statement_shown on statement (affiliate_id, created_at desc, id desc) where status in ('approved', 'in_payout', 'paid');
create index statement_draft on statement (workspace_id, id) where status = 'draft';
create index statement_due on statement (workspace_id, currency, due_on) where status = 'approved';
create trigger ids_are_verified before insert on statement for each statement execute function refuse_unverified_ids();
\ir ../functions/refuse_gap_in_statements.sql
\ir ../functions/refuse_statement_change.sql
create trigger follows before insert on statement for each row execute function refuse_gap_in_statements();
create trigger is_final before update on statement for each row execute function refuse_statement_change();
create trigger is_kept before delete or truncate on statement for each statement execute function refuse_ledger_change();

-- Lines and what was carried in add up to the total (I7).
create table statement_line (
  statement_id bigint not null references statement,
  line integer not null,
  kind text not null check (kind in ('conversions', 'clicks', 'bonus', 'deduction', 'correction', 'bounty', 'opening', 'write_off',
    'clawback', 'reversal')),
  offer_id integer,
  event_code text,
  -- Of a clawback: the statement that had paid what is taken back.
  of_statement_id bigint references statement,
  count bigint not null,
  amount numeric(18, 4) not null,
  primary key (statement_id, line)
);
create trigger is_final before update or delete or truncate on statement_line
  for each statement execute function refuse_ledger_change();
\ir ../functions/statement_entries.sql
