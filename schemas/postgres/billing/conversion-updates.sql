-- === Confirmation by file (N129) ===

-- One file of what an advertiser confirmed. Rows are applied in the order of their numbers, each in one transaction with its result, so that a
-- process that dies goes on behind the last one.
create table conversion_update (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  status text not null check (status in ('reading', 'checked', 'running', 'done', 'failed', 'undoing', 'undone')),
  is_dry_run boolean not null,
  file_name text not null default '',
  options jsonb not null default '{}',
  counts jsonb not null default '{}',
  sums jsonb not null default '[]',
  error text not null default '',
  owner text not null default '',
  lease_until timestamptz(3) not null default '-infinity',
  key_id integer,
  person_id integer,
  created_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3)
);
create index conversion_update_list on conversion_update (workspace_id, created_at desc, id desc);
create trigger ids_are_verified before insert on conversion_update for each statement execute function refuse_unverified_ids();

create table conversion_update_row (
  update_id bigint not null references conversion_update on delete cascade,
  -- The line of the file.
  number integer not null,
  fields jsonb not null,
  conversion_id uuid,
  outcome text check (outcome in ('changed', 'unchanged', 'unknown', 'refused', 'duplicate_row', 'undone')),
  -- Field to text.
  faults jsonb not null default '{}',
  -- The state before, to undo it: {status, status_reason, sale_amount, revenue, payout, version after}.
  before jsonb,
  primary key (update_id, number)
);
create index conversion_update_row_conversion on conversion_update_row (update_id, conversion_id);
