create table if not exists schema_migration (number UInt32, name String, applied_at DateTime default now())
            engine = ReplacingMergeTree order by number;

alter table schema_migration
              add column if not exists oldest_reader UInt32 default number,
              add column if not exists is_applied Bool default true;

create table if not exists click
(
  workspace_id UInt32,
  ts DateTime64(3, 'UTC'),
  click_id FixedString(16),
  link_type LowCardinality(String),
  status LowCardinality(String),
  status_reason LowCardinality(String),
  offer_id UInt32,
  advertiser_id UInt32,
  affiliate_id UInt32,
  smart_link_id UInt32,
  is_unique Bool,
  is_bot Bool,
  is_datacenter Bool,
  is_proxy Bool,
  is_headless Bool,
  missing_ua Bool,
  ip String,
  visitor UInt64,
  user_agent String,
  referrer String,
  referrer_host String,
  language LowCardinality(String),
  country LowCardinality(String),
  region LowCardinality(String),
  city String,
  asn UInt32,
  as_name LowCardinality(String),
  device_type LowCardinality(String),
  os LowCardinality(String),
  os_version LowCardinality(String),
  browser LowCardinality(String),
  browser_version LowCardinality(String),
  traffic_source LowCardinality(String),
  source_id String,
  sub1 String,
  sub2 String,
  sub3 String,
  sub4 String,
  sub5 String,
  sub6 String,
  sub7 String,
  sub8 String,
  sub9 String,
  sub10 String,
  gclid String,
  gbraid String,
  wbraid String,
  msclkid String,
  fbclid String,
  ttclid String,
  ext_campaign_id String,
  ext_adgroup_id String,
  ext_ad_id String,
  ext_keyword String,
  ext_placement String,
  ext_matchtype LowCardinality(String),
  ext_network LowCardinality(String),
  ext_device LowCardinality(String),
  ext_device_model String,
  ext_target_id String,
  ext_loc_physical String,
  ext_loc_interest String,
  ext_feed_item_id String,
  ext_ad_position LowCardinality(String),
  domain LowCardinality(String),
  destination String,
  extra String,
  click_payout Decimal(18, 4),
  click_revenue Decimal(18, 4),
  currency LowCardinality(String),
  catalog_version UInt64,

  _lane UInt8,
  _producer UInt16,
  _epoch UInt32,
  _position UInt64,
  _writer_epoch UInt64,
  inserted_at DateTime64(3, 'UTC') default now64(3),
  index click_gclid gclid type bloom_filter(0.01) granularity 4,
  index click_gbraid gbraid type bloom_filter(0.01) granularity 4,
  index click_wbraid wbraid type bloom_filter(0.01) granularity 4,
  index click_msclkid msclkid type bloom_filter(0.01) granularity 4,
  projection positions
  (
    select _lane, _producer, _epoch, count(), min(_position), max(_position)
    group by _lane, _producer, _epoch
  )
)
engine = MergeTree
partition by toYYYYMM(ts)
order by (workspace_id, ts, click_id)
settings non_replicated_deduplication_window = 10000;

create table if not exists impression
(
  workspace_id UInt32,
  ts DateTime64(3, 'UTC'),
  offer_id UInt32,
  advertiser_id UInt32,
  affiliate_id UInt32,
  creative_id String,
  is_bot Bool,
  country LowCardinality(String),
  region LowCardinality(String),
  city String,
  device_type LowCardinality(String),
  os LowCardinality(String),
  browser LowCardinality(String),
  traffic_source LowCardinality(String),
  source_id String,
  sub1 String,
  sub2 String,
  sub3 String,
  sub4 String,
  sub5 String,
  sub6 String,
  sub7 String,
  sub8 String,
  sub9 String,
  sub10 String,
  ext_campaign_id String,
  ext_adgroup_id String,
  ext_ad_id String,
  ext_keyword String,
  ext_placement String,
  domain LowCardinality(String),
  _lane UInt8,
  _producer UInt16,
  _epoch UInt32,
  _position UInt64,
  _writer_epoch UInt64,
  inserted_at DateTime64(3, 'UTC') default now64(3),
  projection positions
  (
    select _lane, _producer, _epoch, count(), min(_position), max(_position)
    group by _lane, _producer, _epoch
  )
)
engine = MergeTree
partition by toYYYYMM(ts)
order by (workspace_id, offer_id, ts)
settings non_replicated_deduplication_window = 10000;

create table if not exists lane_fence
(
  lane UInt8,
  epoch UInt64
)
engine = ReplacingMergeTree(epoch)
order by lane;

create table if not exists conversion_fact
(
  workspace_id UInt32,
  conv_ts DateTime64(3, 'UTC'),
  id UUID,
  version UInt32,
  click_id String,
  click_ts Nullable(DateTime64(3, 'UTC')),
  offer_id UInt32,
  affiliate_id UInt32,
  advertiser_id UInt32,
  smart_link_id UInt32,
  event_code LowCardinality(String),
  is_private Bool,
  status LowCardinality(String),
  status_reason String,
  is_duplicate Bool,
  revenue Decimal(18, 4),
  payout Decimal(18, 4),
  sale_amount Decimal(18, 4),
  currency LowCardinality(String),
  method LowCardinality(String),
  country LowCardinality(String),
  region LowCardinality(String),
  city String,
  device_type LowCardinality(String),
  os LowCardinality(String),
  browser LowCardinality(String),
  traffic_source LowCardinality(String),
  source_id String,
  sub1 String,
  sub2 String,
  sub3 String,
  sub4 String,
  sub5 String,
  sub6 String,
  sub7 String,
  sub8 String,
  sub9 String,
  sub10 String,
  ext_campaign_id String,
  ext_adgroup_id String,
  ext_ad_id String,
  ext_keyword String,
  ext_placement String,
  link_type LowCardinality(String),
  domain LowCardinality(String)
)
engine = ReplacingMergeTree(version)
partition by toYYYYMM(conv_ts)
order by (workspace_id, offer_id, conv_ts, id);

create table if not exists ad_cost_fact
(
  workspace_id UInt32,

  wall_time DateTime('UTC'),
  id UInt64,
  version UInt32,
  offer_id UInt32,
  affiliate_id UInt32,
  advertiser_id UInt32,
  traffic_source LowCardinality(String),
  ext_campaign_id String,
  ext_adgroup_id String,
  currency LowCardinality(String),
  amount Decimal(18, 4)
)
engine = ReplacingMergeTree(version)
order by (workspace_id, wall_time, id);

alter table click modify setting default_compression_codec = 'ZSTD(1)';

alter table impression modify setting default_compression_codec = 'ZSTD(1)';

alter table conversion_fact modify setting default_compression_codec = 'ZSTD(1)';

alter table click
  modify column click_id codec(ZSTD(3)),
  modify column ts codec(Delta(8), ZSTD(1)),
  modify column inserted_at codec(Delta(8), ZSTD(1)),
  modify column _position codec(Delta(8), ZSTD(1));

alter table impression
  modify column ts codec(Delta(8), ZSTD(1)),
  modify column inserted_at codec(Delta(8), ZSTD(1)),
  modify column _position codec(Delta(8), ZSTD(1));

alter table click
  modify column user_agent LowCardinality(String),
  modify column referrer_host LowCardinality(String),
  modify column city LowCardinality(String),
  modify column destination LowCardinality(String),
  modify column ext_campaign_id LowCardinality(String),
  modify column ext_adgroup_id LowCardinality(String),
  modify column ext_keyword LowCardinality(String);

alter table click add projection if not exists by_day
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain, smart_link_id, link_type, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain, smart_link_id, link_type, status, currency
),
add projection if not exists by_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser, status, currency
),
add projection if not exists by_campaign
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id, status, currency
),
add projection if not exists by_day_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, status, currency
),
add projection if not exists by_day_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser, status, currency
),
add projection if not exists by_half_hour_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country, status, currency
),
add projection if not exists by_half_hour
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source, status, currency
);

alter table impression add projection if not exists by_day
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain
),
add projection if not exists by_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser
),
add projection if not exists by_campaign
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id
),
add projection if not exists by_day_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country
),
add projection if not exists by_day_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser
),
add projection if not exists by_half_hour_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country
),
add projection if not exists by_half_hour
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source
);

alter table click materialize projection by_day;

alter table click materialize projection by_device;

alter table click materialize projection by_campaign;

alter table click materialize projection by_day_country;

alter table click materialize projection by_day_device;

alter table click materialize projection by_half_hour;

alter table click materialize projection by_half_hour_country;

alter table impression materialize projection by_day;

alter table impression materialize projection by_device;

alter table impression materialize projection by_campaign;

alter table impression materialize projection by_day_country;

alter table impression materialize projection by_day_device;

alter table impression materialize projection by_half_hour;

alter table impression materialize projection by_half_hour_country;

create table if not exists producer_claim
(
  lane UInt8,
  producer UInt16,
  epoch UInt32,
  nonce String,
  claimed_at DateTime64(3, 'UTC') default now64(3)
)
engine = MergeTree
order by (lane, producer, epoch)
settings fsync_after_insert = 1, fsync_part_directory = 1;

create table if not exists installation_mark
(
  incarnation UUID,
  beat UInt64,
  sequences Map(String, UInt64),
  marked_at DateTime64(3, 'UTC') default now64(3)
)
engine = ReplacingMergeTree(beat)
order by incarnation
settings fsync_after_insert = 1, fsync_part_directory = 1;

create table if not exists fact_mark
(
  id UInt8,
  number UInt64,
  token String
)
engine = ReplacingMergeTree(number)
order by id;

alter table conversion_fact modify setting fsync_after_insert = 1, fsync_part_directory = 1;

alter table ad_cost_fact modify setting fsync_after_insert = 1, fsync_part_directory = 1;

alter table installation_mark add column if not exists is_closed Bool default false;

alter table click add projection if not exists latest_by_gclid
(
  select gclid, workspace_id, offer_id, max(ts) group by gclid, workspace_id, offer_id
) with settings (index_granularity = 1024),
add projection if not exists latest_by_gbraid
(
  select gbraid, workspace_id, offer_id, max(ts) group by gbraid, workspace_id, offer_id
) with settings (index_granularity = 1024),
add projection if not exists latest_by_wbraid
(
  select wbraid, workspace_id, offer_id, max(ts) group by wbraid, workspace_id, offer_id
) with settings (index_granularity = 1024),
add projection if not exists latest_by_msclkid
(
  select msclkid, workspace_id, offer_id, max(ts) group by msclkid, workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click materialize projection latest_by_gclid;

alter table click materialize projection latest_by_gbraid;

alter table click materialize projection latest_by_wbraid;

alter table click materialize projection latest_by_msclkid;

alter table click modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

alter table impression modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

alter table click add projection if not exists latest_gclid
(
  select sipHash64(gclid), workspace_id, offer_id, max(ts) group by sipHash64(gclid), workspace_id, offer_id
) with settings (index_granularity = 1024),
add projection if not exists latest_gbraid
(
  select sipHash64(gbraid), workspace_id, offer_id, max(ts) group by sipHash64(gbraid), workspace_id, offer_id
) with settings (index_granularity = 1024),
add projection if not exists latest_wbraid
(
  select sipHash64(wbraid), workspace_id, offer_id, max(ts) group by sipHash64(wbraid), workspace_id, offer_id
) with settings (index_granularity = 1024),
add projection if not exists latest_msclkid
(
  select sipHash64(msclkid), workspace_id, offer_id, max(ts) group by sipHash64(msclkid), workspace_id, offer_id
) with settings (index_granularity = 1024),
drop projection if exists latest_by_gclid,
drop projection if exists latest_by_gbraid,
drop projection if exists latest_by_wbraid,
drop projection if exists latest_by_msclkid;

alter table click materialize projection latest_gclid;

alter table click materialize projection latest_gbraid;

alter table click materialize projection latest_wbraid;

alter table click materialize projection latest_msclkid;

alter table click
  modify column offer_id UInt32 codec(T64, ZSTD(1)),
  modify column advertiser_id UInt32 codec(T64, ZSTD(1)),
  modify column affiliate_id UInt32 codec(T64, ZSTD(1)),
  modify column asn UInt32 codec(T64, ZSTD(1)),
  modify column visitor UInt64 codec(T64, ZSTD(1)),
  modify column source_id String codec(ZSTD(3)),
  modify column sub1 String codec(ZSTD(3));

create table if not exists insert_trial
(
  trial UUID,
  tried_at DateTime('UTC') default now()
)
engine = MergeTree
order by tried_at
ttl tried_at + interval 1 day
settings non_replicated_deduplication_window = 10000;
