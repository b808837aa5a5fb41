-- reads: 0001
-- The whole schema. Statements are written for one server; schemas/clickhouse/layout.ts derives the statements of a cluster.

-- === Clicks and impressions ===

-- One immutable row a click, decided by ingress (schemas/events/click-record.ts) and placed by the writer of its lane.
-- (workspace, time, id) is the order because a click id tells its time: a look-up reads one granule.
--
-- Bytes of a click on disk: test/bench/README.md has them column by column. What grows by a little from row to row has a codec of its own, and
-- so has the id, which begins with the time. Long texts with few values are LowCardinality. Ad ids and all sub IDs but the first stay plain:
-- many networks send an id of their own with each click there. T64 leaves out the bits that numbers do not use.
create table if not exists click
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
  -- Where the row stands in its producer's sequence: what is stored is known from here, without a time window (P9).
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
  -- Reports over many rows read these sums instead. A projection is made with its part and merged with it, so it is as exact as the rows: a
  -- replayed insert that the table refuses adds nothing, a late click is counted when its row is there. Which report reads which is decided
  -- in api/reports/rollups.ts, by the same expressions.
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
  -- The time of the latest click of each ad-platform ID on each offer: all that a look-up by such an ID needs to know (G113). Anybody may put the
  -- same ID on every click, and a look-up that reads all of them takes as long as there are clicks. Here they are one row a part. The ID goes
  -- first, so that the workspaces of a shared host lie beside each other; small granules, because a look-up reads one of each part. Clicks
  -- without an ID are one row an offer. The hash of the ID stands for it, because the IDs themselves took as much room as the column: nobody
  -- can make an ID with the hash of another one, as SipHash has no known second preimages, and the click's own ID is compared as well.
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
engine = MergeTree
partition by toYYYYMM(ts)
order by (workspace_id, ts, click_id)
settings non_replicated_deduplication_window = 10000, index_granularity = 8192, default_compression_codec = 'ZSTD(1)';

create table if not exists impression
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
engine = MergeTree
partition by toYYYYMM(ts)
order by (workspace_id, offer_id, ts)
settings non_replicated_deduplication_window = 10000, index_granularity = 8192, default_compression_codec = 'ZSTD(1)';

-- An insert would write twelve projections besides its rows, which takes longer than the rows. The first merge of new parts writes them instead,
-- once for many inserts. Until then reports read the rows of these parts, some seconds of traffic. Servers before 26.6 do not have the
-- settings and write them at once.
-- requires setting: materialize_projections_on_merge
alter table click modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

-- requires setting: materialize_projections_on_merge
alter table impression modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

-- === Writers ===

-- The newest epoch of each lane's writer. An insert names its epoch and is refused by the server itself when a newer one
-- stands here, so that a writer that was frozen between its check and its insert writes nothing (P10).
create table if not exists lane_fence
(
  lane UInt8,
  epoch UInt64
)
engine = ReplacingMergeTree(epoch)
order by lane;

-- Which start of an ingress process a producer's epoch belongs to: the one whose batch came first. It is written before the
-- first row of the epoch, so that a second process with the same number and epoch is noticed, also by the next writer and
-- with a Postgres that was restored from a backup. A few rows a start of a process.
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

-- Where a strict process tries whether a repeated insert is stored once, with the settings of the tables of clicks. A few rows a
-- minute, kept for a day.
create table if not exists insert_trial
(
  trial UUID,
  tried_at DateTime('UTC') default now()
)
engine = MergeTree
order by tried_at
ttl tried_at + interval 1 day
settings non_replicated_deduplication_window = 10000;

-- === Copies from Postgres ===

-- A confirmed insert survives a power cut; at most five inserts a second and table pay for it. Not so the mark below: if anything is forgotten,
-- the mark is too, and that is how it is noticed.

-- What reports know of conversions: the newest version of each, copied from Postgres. Partition and key are made of columns
-- that never change, so a later version replaces the earlier one.
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
order by (workspace_id, offer_id, conv_ts, id)
settings index_granularity = 8192, default_compression_codec = 'ZSTD(1)', fsync_after_insert = 1, fsync_part_directory = 1;

-- What reports know of ad costs: the newest version of each, copied from Postgres. The key is made of columns that never
-- change, so a later version replaces the earlier one. There are no partitions: one call may bring costs of any days, and an
-- insert reaches a hundred partitions at most.
create table if not exists ad_cost_fact
(
  workspace_id UInt32,
  -- Day and hour as the cost names them, 00:00 without an hour: a clock on some wall, not an instant.
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
order by (workspace_id, wall_time, id)
settings index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1;

-- The newest mark of the facts audit: its number never falls while this store keeps what it was given (fact_mark of Postgres).
create table if not exists fact_mark
(
  id UInt8,
  number UInt64,
  token String
)
engine = ReplacingMergeTree(number)
order by id;

-- === The installation ===

-- What Postgres has said of itself: its incarnation, its newest beat, and where its sequences stood by then. A Postgres that was
-- restored from a backup is behind this, and gives no id again that stood here.
create table if not exists installation_mark
(
  incarnation UUID,
  beat UInt64,
  sequences Map(String, UInt64),
  marked_at DateTime64(3, 'UTC') default now64(3),
  -- The last process of the installation has ended in an orderly way: Postgres gave no id after this beat.
  is_closed Bool default false
)
engine = ReplacingMergeTree(beat)
order by incarnation
settings fsync_after_insert = 1, fsync_part_directory = 1;
