-- One immutable row a click, decided by ingress (schemas/events/click-record.ts) and placed by the writer of its lane.
-- (workspace, time, id) is the order because a click id tells its time: a look-up reads one granule.
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
  -- Where the row stands in its producer's sequence: what is stored is known from here, without a time window (P9).
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

-- The newest epoch of each lane's writer. An insert names its epoch and is refused by the server itself when a newer one
-- stands here, so that a writer that was frozen between its check and its insert writes nothing (P10).
create table if not exists lane_fence
(
  lane UInt8,
  epoch UInt64
)
engine = ReplacingMergeTree(epoch)
order by lane;
