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
order by (workspace_id, wall_time, id);
