-- === Invoices of advertisers ===

-- What an advertiser owes for a range of the entries of its account. Entries that settle an invoice or add tax to it are on none: `invoice_tax`,
-- `payment`, `credit_note`. Ranges adjoin, and what is left of one is carried into the next (N58, I6): `guard_new_invoice`.

create table invoice (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  account_id bigint not null references ledger_account,
  currency text not null,
  kind text not null default 'invoice' check (kind in ('invoice', 'credit_note')),
  -- Of a credit note: the invoice that it takes back.
  credits_id bigint unique references invoice,
  number text,
  status text not null check (status in ('draft', 'sent', 'part_paid', 'paid', 'carried', 'credited', 'void')),
  terms text not null,
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  timezone text not null,
  -- Entries with from_seq < seq <= to_seq. A credit note has none.
  from_seq bigint not null,
  to_seq bigint not null,
  carried_in numeric(18, 4) not null,
  total numeric(18, 4) not null,
  payable numeric(18, 4) not null,
  tax jsonb not null default '{"mode": "none", "rate": "0", "text": ""}',
  tax_amount numeric(18, 4) not null default 0,
  gross numeric(18, 4) not null,
  carried_out numeric(18, 4) not null,
  -- Of `gross`, what payments have covered.
  paid numeric(18, 4) not null default 0,
  due_on date not null,
  -- Names, addresses and numbers of both sides as they were at approval, so that the document never changes: {issuer, recipient, language}.
  parties jsonb,
  created_at timestamptz(3) not null default clock_timestamp(),
  approved_at timestamptz(3),
  approved_key_id integer,
  approved_person_id integer,
  voided_at timestamptz(3),
  -- Of a credit note.
  reason text not null default '',
  check (from_seq <= to_seq),
  check ((kind = 'credit_note') = (credits_id is not null)),
  check (payable >= 0 or kind = 'credit_note'),
  check (total = payable + carried_out),
  check (gross = payable + tax_amount),
  check (paid between 0 and greatest(gross, 0)),
  check ((number is null) = (status in ('draft', 'carried', 'void')))
);
create unique index invoice_number on invoice (workspace_id, number) where number is not null;
create unique index invoice_range on invoice (account_id, to_seq, period_to) where status <> 'void' and kind = 'invoice';
create index invoice_list on invoice (workspace_id, created_at desc, id desc);
create index invoice_advertiser on invoice (advertiser_id, created_at desc, id desc);
create trigger ids_are_verified before insert on invoice for each statement execute function refuse_unverified_ids();

-- They name the type of the table.
\ir ../functions/guard_new_invoice.sql
\ir ../functions/guard_invoice_change.sql
\ir ../functions/refuse_unequal_invoice.sql
create index invoice_open on invoice (account_id, period_to, id) where status in ('sent', 'part_paid') and kind = 'invoice';
create trigger is_next before insert on invoice for each row execute function guard_new_invoice();
create trigger is_final before update on invoice for each row execute function guard_invoice_change();
create trigger is_kept before delete or truncate on invoice for each statement execute function refuse_ledger_change();
-- At the end of the transaction of the database, when the lines are there.
create constraint trigger adds_up after insert on invoice
  deferrable initially deferred for each row execute function refuse_unequal_invoice();

-- Lines and what was carried in add up to the total (I7).
create table invoice_line (
  invoice_id bigint not null references invoice,
  line integer not null,
  kind text not null check (kind in ('conversions', 'reversal', 'clicks', 'bonus', 'deduction', 'correction', 'bounty', 'opening',
    'write_off', 'credit')),
  offer_id integer,
  event_code text,
  count bigint not null,
  amount numeric(18, 4) not null,
  primary key (invoice_id, line)
);
create trigger is_final before update or delete or truncate on invoice_line
  for each statement execute function refuse_ledger_change();

-- What an advertiser paid, by the name that its bank or payment service gave it.
create table advertiser_payment (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  currency text not null,
  amount numeric(18, 4) not null check (amount > 0),
  external_id text not null,
  received_at timestamptz(3) not null,
  note text not null default '',
  -- Invoices that the payer named: they are covered first.
  invoice_ids bigint[] not null default '{}',
  key_id integer,
  person_id integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (workspace_id, external_id)
);
create index advertiser_payment_list on advertiser_payment (workspace_id, created_at desc, id desc);
create index advertiser_payment_advertiser on advertiser_payment (advertiser_id, created_at desc, id desc);
create trigger ids_are_verified before insert on advertiser_payment for each statement execute function refuse_unverified_ids();

create trigger is_final before update or delete or truncate on advertiser_payment
  for each statement execute function refuse_ledger_change();

-- A payment that was entered by mistake is taken back once, by a further record (N8).
create table advertiser_payment_reversal (
  payment_id bigint primary key references advertiser_payment,
  reason text not null,
  key_id integer,
  person_id integer,
  created_at timestamptz(3) not null default clock_timestamp()
);
create trigger is_final before update or delete or truncate on advertiser_payment_reversal
  for each statement execute function refuse_ledger_change();

-- What payments cover of invoices. Negative where a credit note or a reversal takes an allocation back; the sum is what is covered now.
create table payment_allocation (
  id bigint primary key generated always as identity,
  payment_id bigint not null references advertiser_payment,
  invoice_id bigint not null references invoice,
  amount numeric(18, 4) not null check (amount <> 0),
  created_at timestamptz(3) not null default clock_timestamp()
);
create index payment_allocation_payment on payment_allocation (payment_id, invoice_id);
create index payment_allocation_invoice on payment_allocation (invoice_id, payment_id);
create trigger ids_are_verified before insert on payment_allocation for each statement execute function refuse_unverified_ids();
create trigger is_final before update or delete or truncate on payment_allocation
  for each statement execute function refuse_ledger_change();
