-- Media spend, as it was paid: the system of record of the ad costs that reports show.

create table ad_cost (
  id bigint primary key generated always as identity,
  workspace_id integer not null references workspace,
  -- A day and an hour of the calendar, in no time zone: the ad platform's statement names them so.
  date date not null check (date between '1970-01-01' and '2099-12-31'),
  hour smallint check (hour between 0 and 23),
  offer_id integer references offer,
  -- That of the offer when the cost was last written (G75).
  advertiser_id integer references advertiser,
  affiliate_id integer references affiliate,
  traffic_source text not null,
  ext_campaign_id text not null,
  ext_adgroup_id text not null,
  currency text not null,
  amount numeric(18, 4) not null check (amount >= 0),
  -- Rises with every change; ClickHouse keeps the highest.
  version integer not null default 1,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  -- Everything but the amount: whoever sends a cost again sets it (G75).
  constraint ad_cost_key unique nulls not distinct
    (workspace_id, date, hour, offer_id, affiliate_id, currency, traffic_source, ext_campaign_id, ext_adgroup_id)
);
create index ad_cost_list on ad_cost (workspace_id, date desc, id desc);
create index ad_cost_offer on ad_cost (offer_id, date desc, id desc) where offer_id is not null;
create index ad_cost_affiliate on ad_cost (affiliate_id, date desc, id desc) where affiliate_id is not null;
create index ad_cost_source on ad_cost (workspace_id, traffic_source, date desc, id desc);
create index ad_cost_currency on ad_cost (workspace_id, currency, date desc, id desc);

-- Changes that ClickHouse has not seen yet; written in the transaction of the change, removed after the insert.
create table ad_cost_fact_outbox (
  id bigint primary key generated always as identity,
  ad_cost_id bigint not null
);
