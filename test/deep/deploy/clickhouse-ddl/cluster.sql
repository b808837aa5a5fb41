create table if not exists schema_migration on cluster 'tracker'
(
  number UInt32,
  name String,
  applied_at DateTime default now(),
  oldest_reader UInt32 default number,
  is_applied Bool default true
)
engine = ReplicatedReplacingMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/schema_migration', '{shard}-{replica}')
order by number
settings replicated_deduplication_window = 0;

create table if not exists click on cluster 'tracker'
(
  workspace_id UInt32,
  ts DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
  click_id FixedString(16) codec(ZSTD(3)),
  link_type LowCardinality(String),
  status LowCardinality(String),
  status_reason LowCardinality(String),
  offer_id UInt32 codec(T64, ZSTD(1)),
  advertiser_id UInt32 codec(T64, ZSTD(1)),
  affiliate_id UInt32 codec(T64, ZSTD(1)),
  smart_link_id UInt32,
  is_unique Bool,
  is_bot Bool,
  is_datacenter Bool,
  is_proxy Bool,
  is_headless Bool,
  missing_ua Bool,
  ip String,
  visitor UInt64 codec(T64, ZSTD(1)),
  user_agent LowCardinality(String),
  referrer String,
  referrer_host LowCardinality(String),
  language LowCardinality(String),
  country LowCardinality(String),
  region LowCardinality(String),
  city LowCardinality(String),
  asn UInt32 codec(T64, ZSTD(1)),
  as_name LowCardinality(String),
  device_type LowCardinality(String),
  os LowCardinality(String),
  os_version LowCardinality(String),
  browser LowCardinality(String),
  browser_version LowCardinality(String),
  traffic_source LowCardinality(String),
  source_id String codec(ZSTD(3)),
  sub1 String codec(ZSTD(3)),
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
  ext_campaign_id LowCardinality(String),
  ext_adgroup_id LowCardinality(String),
  ext_ad_id String,
  ext_keyword LowCardinality(String),
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
  destination LowCardinality(String),
  extra String,
  click_payout Decimal(18, 4),
  click_revenue Decimal(18, 4),
  currency LowCardinality(String),
  catalog_version UInt64,

  _lane UInt8,
  _producer UInt16,
  _epoch UInt32,
  _position UInt64 codec(Delta(8), ZSTD(1)),
  _writer_epoch UInt64,
  inserted_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
  index click_gclid gclid type bloom_filter(0.01) granularity 4,
  index click_gbraid gbraid type bloom_filter(0.01) granularity 4,
  index click_wbraid wbraid type bloom_filter(0.01) granularity 4,
  index click_msclkid msclkid type bloom_filter(0.01) granularity 4,
  projection positions
  (
    select _lane, _producer, _epoch, count(), min(_position), max(_position)
    group by _lane, _producer, _epoch
  ),



  projection by_day
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain, smart_link_id, link_type, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain, smart_link_id, link_type, status, currency
  ),
  projection by_device
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser, status, currency
  ),
  projection by_campaign
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id, status, currency
  ),
  projection by_day_country
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, status, currency
  ),
  projection by_day_device
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser, status, currency
  ),
  projection by_half_hour_country
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country, status, currency
  ),
  projection by_half_hour
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source, status, currency,
      count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
    group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source, status, currency
  ),





  projection latest_gclid
  (
    select sipHash64(gclid), workspace_id, offer_id, max(ts) group by sipHash64(gclid), workspace_id, offer_id
  ) with settings (index_granularity = 1024),
  projection latest_gbraid
  (
    select sipHash64(gbraid), workspace_id, offer_id, max(ts) group by sipHash64(gbraid), workspace_id, offer_id
  ) with settings (index_granularity = 1024),
  projection latest_wbraid
  (
    select sipHash64(wbraid), workspace_id, offer_id, max(ts) group by sipHash64(wbraid), workspace_id, offer_id
  ) with settings (index_granularity = 1024),
  projection latest_msclkid
  (
    select sipHash64(msclkid), workspace_id, offer_id, max(ts) group by sipHash64(msclkid), workspace_id, offer_id
  ) with settings (index_granularity = 1024)
)
engine = ReplicatedMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/click/{shard}', '{replica}')
partition by toYYYYMM(ts)
order by (workspace_id, ts, click_id)
settings replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 86400, index_granularity = 8192, default_compression_codec = 'ZSTD(1)';

create table if not exists impression on cluster 'tracker'
(
  workspace_id UInt32,
  ts DateTime64(3, 'UTC') codec(Delta(8), ZSTD(1)),
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
  _position UInt64 codec(Delta(8), ZSTD(1)),
  _writer_epoch UInt64,
  inserted_at DateTime64(3, 'UTC') default now64(3) codec(Delta(8), ZSTD(1)),
  projection positions
  (
    select _lane, _producer, _epoch, count(), min(_position), max(_position)
    group by _lane, _producer, _epoch
  ),
  projection by_day
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain
  ),
  projection by_device
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser
  ),
  projection by_campaign
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id
  ),
  projection by_day_country
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country
  ),
  projection by_day_device
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser
  ),
  projection by_half_hour_country
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country
  ),
  projection by_half_hour
  (
    select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source,
      count()
    group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source
  )
)
engine = ReplicatedMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/impression/{shard}', '{replica}')
partition by toYYYYMM(ts)
order by (workspace_id, offer_id, ts)
settings replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 86400, index_granularity = 8192, default_compression_codec = 'ZSTD(1)';

alter table click on cluster 'tracker'
  modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

alter table impression on cluster 'tracker'
  modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

create table if not exists lane_fence on cluster 'tracker'
(
  lane UInt8,
  epoch UInt64
)
engine = ReplacingMergeTree(epoch)
order by lane;

create table if not exists producer_claim on cluster 'tracker'
(
  lane UInt8,
  producer UInt16,
  epoch UInt32,
  nonce String,
  claimed_at DateTime64(3, 'UTC') default now64(3)
)
engine = ReplicatedMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/producer_claim', '{shard}-{replica}')
order by (lane, producer, epoch)
settings fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0;

create table if not exists insert_trial on cluster 'tracker'
(
  trial UUID,
  tried_at DateTime('UTC') default now()
)
engine = ReplicatedMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/insert_trial/{shard}', '{replica}')
order by tried_at
ttl tried_at + interval 1 day
settings replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 86400;

create table if not exists conversion_fact on cluster 'tracker'
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
engine = ReplicatedReplacingMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/conversion_fact', '{shard}-{replica}', version)
partition by toYYYYMM(conv_ts)
order by (workspace_id, offer_id, conv_ts, id)
settings index_granularity = 8192, default_compression_codec = 'ZSTD(1)', fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0;

create table if not exists ad_cost_fact on cluster 'tracker'
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
engine = ReplicatedReplacingMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/ad_cost_fact', '{shard}-{replica}', version)
order by (workspace_id, wall_time, id)
settings index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0;

create table if not exists fact_mark on cluster 'tracker'
(
  id UInt8,
  number UInt64,
  token String
)
engine = ReplicatedReplacingMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/fact_mark', '{shard}-{replica}', number)
order by id
settings replicated_deduplication_window = 0;

create table if not exists installation_mark on cluster 'tracker'
(
  incarnation UUID,
  beat UInt64,
  sequences Map(String, UInt64),
  marked_at DateTime64(3, 'UTC') default now64(3),

  is_closed Bool default false
)
engine = ReplicatedReplacingMergeTree('/tracker/8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1/installation_mark', '{shard}-{replica}', beat)
order by incarnation
settings fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0;

create or replace table click_all on cluster 'tracker' as click
engine = Distributed('tracker', currentDatabase(), 'click', _lane);

create or replace table impression_all on cluster 'tracker' as impression
engine = Distributed('tracker', currentDatabase(), 'impression', _lane);
