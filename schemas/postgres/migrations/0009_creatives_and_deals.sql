-- What partners advertise with (sections 2.4 and 2.11). None of it decides what a click becomes, so none is in the catalog.

create table creative (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  offer_id integer not null references offer,
  name text not null,
  kind text not null default 'image' check (kind in ('image', 'html', 'text', 'link', 'email')),
  url text not null default '',
  body text not null default '',
  -- Pixels; 0 is not known.
  width integer not null default 0 check (width >= 0),
  height integer not null default 0 check (height >= 0),
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index creative_list on creative (offer_id, created_at desc, id desc);

create table deal (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  -- Null is for everything of the advertiser (G173).
  offer_id integer references offer,
  title text not null,
  description text not null default '',
  coupon_code text not null default '',
  landing_url text not null default '',
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index deal_list on deal (workspace_id, created_at desc, id desc);
create index deal_advertiser on deal (advertiser_id);
create index deal_offer on deal (offer_id);

create table product_feed (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  advertiser_id integer not null references advertiser,
  -- As of a deal.
  offer_id integer references offer,
  name text not null,
  feed_url text not null,
  format text not null default 'csv' check (format in ('csv', 'tsv', 'xml', 'json')),
  description text not null default '',
  status text not null default 'active' check (status in ('active', 'inactive')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index product_feed_list on product_feed (workspace_id, created_at desc, id desc);
create index product_feed_advertiser on product_feed (advertiser_id);
create index product_feed_offer on product_feed (offer_id);

-- The list of a partner's own postbacks.
create index postback_affiliate on postback (affiliate_id, created_at desc, id desc);
