-- reads: 0040
-- Reports and lists that somebody has named: the address of a screen of the console, with its settings.
create table saved_view (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- Of a partner or an advertiser; both null for staff. A view is shared within its account only.
  affiliate_id integer references affiliate,
  advertiser_id integer references advertiser,
  -- Who made it: one of both.
  person_id integer references person,
  key_id integer references api_key,
  name text not null,
  path text not null,
  query text not null,
  is_shared boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (num_nonnulls(person_id, key_id) = 1),
  check (num_nonnulls(affiliate_id, advertiser_id) <= 1)
);
create trigger ids_are_verified before insert on saved_view for each statement execute function refuse_unverified_ids();
-- One account's views lie together; staff are the account 0, 0.
create index saved_view_list on saved_view (workspace_id, coalesce(affiliate_id, 0), coalesce(advertiser_id, 0), created_at desc, id desc);
create index saved_view_of_affiliate on saved_view (affiliate_id) where affiliate_id is not null;
create index saved_view_of_advertiser on saved_view (advertiser_id) where advertiser_id is not null;
create index saved_view_of_person on saved_view (person_id) where person_id is not null;
create index saved_view_of_key on saved_view (key_id) where key_id is not null;
