-- reads: 0040
-- Files of records that were sent to be imported, one row each. Any api process carries one out under a lease.
create table import (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Who sent it: one of both. It is carried out with the rights that the key or the membership has at that time.
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
  -- Of the rows up to last_row.
  rows_left_out integer not null default 0,
  -- The last row that has been written or left out.
  last_row integer not null default 0,
  -- Leases since it last got on. One that ends its process every time is given up.
  attempts integer not null default 0,
  -- Of the process that carries it out. Whoever changes the status ends the lease with it.
  lease_token uuid,
  leased_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  ended_at timestamptz(3),
  check (num_nonnulls(person_id, key_id) = 1)
);
create trigger ids_are_verified before insert on import for each statement execute function refuse_unverified_ids();
create index import_list on import (workspace_id, created_at desc, id desc);
create index import_unfinished on import (id) where ended_at is null;
-- The same file with the same options is imported once at a time.
create unique index import_once on import (workspace_id, record_id, format, delimiter, is_dry_run, skips_faulty)
  where status in ('queued', 'checking', 'writing');
create index import_ended on import (ended_at) where ended_at is not null;
create index import_of_key on import (key_id) where key_id is not null;
create index import_of_person on import (person_id) where person_id is not null;

-- The content of a file in pieces, until its import has ended.
create table import_part (
  import_id integer not null references import on delete cascade,
  -- Counted from 0.
  number integer not null,
  bytes bytea not null,
  primary key (import_id, number)
);
