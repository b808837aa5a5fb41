-- === Confirmation by file (N129) ===

-- A file of what an advertiser confirmed. Its rows are stored while it arrives (`reading`), then checked (`checking`, `checked`), applied (`applying`,
-- `done`) and perhaps undone (`undoing`, `undone`), each in transactions of some hundred rows that also move `position`: a process that dies leaves the
-- update at the end of a transaction, and any process goes on from there. `stopped` follows any state before `done`, `failed` repeated errors.
create table conversion_update (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  status text not null default 'reading' check (status in ('reading', 'checking', 'checked', 'applying', 'done', 'undoing', 'undone', 'stopped', 'failed')),
  name text not null default '',
  -- Name in the file to the field that it stands for; "" for a column that is not read.
  columns jsonb not null default '{}',
  offer_ids integer[] not null default '{}',
  -- What becomes of conversions of these offers and this time that no row names.
  missing text not null default 'keep' check (missing in ('keep', 'reject')),
  missing_from timestamptz(3),
  missing_to timestamptz(3),
  missing_reason text not null default '',
  -- How far the present phase has come, and where the file ends: numbers of rows.
  position integer not null default 0,
  last_number integer not null default 0,
  -- Outcome to rows, as of the check; when rows are applied or undone they follow.
  counts jsonb not null default '{}',
  -- [{affiliate_id, currency, rows, payout_before, payout_after, revenue_before, revenue_after}]
  sums jsonb not null default '[]',
  message text not null default '',
  -- Errors since a step went well, and when to try again.
  attempts integer not null default 0,
  due_at timestamptz(3) not null default '-infinity',
  -- Who asked for the present phase.
  key_id integer,
  person_id integer,
  request_id text not null,
  created_by text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  applied_at timestamptz(3),
  ended_at timestamptz(3),
  check (missing = 'keep' or (missing_from < missing_to and offer_ids <> '{}'))
);
create index conversion_update_list on conversion_update (workspace_id, created_at desc, id desc);
create index conversion_update_open on conversion_update (id) where status in ('reading', 'checking', 'applying', 'undoing');
create index conversion_update_ended on conversion_update (ended_at) where ended_at is not null;
create trigger ids_are_verified before insert on conversion_update for each statement execute function refuse_unverified_ids();

create table conversion_update_row (
  update_id integer not null references conversion_update on delete cascade,
  -- The line of the file; conversions that it does not name follow behind the last line.
  number integer not null,
  is_missing boolean not null default false,
  fields jsonb not null,
  conversion_id uuid,
  outcome text check (outcome in ('changed', 'unchanged', 'unknown', 'refused', 'duplicate_row', 'undone', 'kept')),
  -- Field to text.
  faults jsonb not null default '{}',
  affiliate_id integer,
  currency text,
  -- The state before and after, of the check until the row is applied: {status, status_reason, notes, sale_amount, payout, revenue, payout_given,
  -- revenue_given, hold_until, earned, charged}.
  before jsonb,
  after jsonb,
  -- Of the conversion at the check.
  version integer,
  is_applied boolean not null default false,
  primary key (update_id, number)
);
-- By conversion first: of a new file Postgres has no statistics, expects one row, and would otherwise read all rows of the file for each of them.
create index conversion_update_row_conversion on conversion_update_row (conversion_id) where conversion_id is not null;
create index conversion_update_row_outcome on conversion_update_row (update_id, outcome, number);
