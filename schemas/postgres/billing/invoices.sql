-- === Invoices of advertisers ===

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
  check (from_seq <= to_seq),
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

create table invoice_line (
  invoice_id bigint not null references invoice,
  line integer not null,
  kind text not null,
  offer_id integer,
  event_code text,
  count bigint not null,
  amount numeric(18, 4) not null,
  primary key (invoice_id, line)
);

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
  key_id integer,
  person_id integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (workspace_id, external_id)
);
create index advertiser_payment_list on advertiser_payment (workspace_id, created_at desc, id desc);
create index advertiser_payment_advertiser on advertiser_payment (advertiser_id, created_at desc, id desc);
create trigger ids_are_verified before insert on advertiser_payment for each statement execute function refuse_unverified_ids();

create table payment_allocation (
  payment_id bigint not null references advertiser_payment,
  invoice_id bigint not null references invoice,
  amount numeric(18, 4) not null check (amount > 0),
  primary key (payment_id, invoice_id)
);
create index payment_allocation_invoice on payment_allocation (invoice_id);
