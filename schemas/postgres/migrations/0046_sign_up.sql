-- reads: 0040
-- Partners who sign up by themselves, where a workspace lets them (N28).
alter table workspace add column sign_up text not null default 'closed' check (sign_up in ('closed', 'review'));

create table sign_up (
  id uuid primary key,
  workspace_id integer not null references workspace,
  -- SHA-256 of the e-mail in lower case: a second application within a day is the same one.
  email_hash bytea not null,
  affiliate_id integer not null references affiliate,
  created_at timestamptz(3) not null default now()
);
create index sign_up_of_email on sign_up (workspace_id, email_hash, created_at desc);
create index sign_up_of_affiliate on sign_up (affiliate_id);
