-- What all migrations together make, to be read and never run. Written by `npm run schema:dump`; a test compares it.

CREATE TABLE ad_cost_fact
(
    `workspace_id` UInt32,
    `wall_time` DateTime('UTC'),
    `id` UInt64,
    `version` UInt32,
    `offer_id` UInt32,
    `affiliate_id` UInt32,
    `advertiser_id` UInt32,
    `traffic_source` LowCardinality(String),
    `ext_campaign_id` String,
    `ext_adgroup_id` String,
    `currency` LowCardinality(String),
    `amount` Decimal(18, 4)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, wall_time, id)
SETTINGS index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE click
(
    `workspace_id` UInt32,
    `ts` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `click_id` FixedString(16) CODEC(ZSTD(3)),
    `link_type` LowCardinality(String),
    `status` LowCardinality(String),
    `status_reason` LowCardinality(String),
    `offer_id` UInt32 CODEC(T64, ZSTD(1)),
    `advertiser_id` UInt32 CODEC(T64, ZSTD(1)),
    `affiliate_id` UInt32 CODEC(T64, ZSTD(1)),
    `smart_link_id` UInt32,
    `is_unique` Bool,
    `is_bot` Bool,
    `is_datacenter` Bool,
    `is_proxy` Bool,
    `is_headless` Bool,
    `missing_ua` Bool,
    `ip` String,
    `visitor` UInt64 CODEC(T64, ZSTD(1)),
    `user_agent` LowCardinality(String),
    `referrer` String,
    `referrer_host` LowCardinality(String),
    `language` LowCardinality(String),
    `country` LowCardinality(String),
    `region` LowCardinality(String),
    `city` LowCardinality(String),
    `asn` UInt32 CODEC(T64, ZSTD(1)),
    `as_name` LowCardinality(String),
    `device_type` LowCardinality(String),
    `os` LowCardinality(String),
    `os_version` LowCardinality(String),
    `browser` LowCardinality(String),
    `browser_version` LowCardinality(String),
    `traffic_source` LowCardinality(String),
    `source_id` String CODEC(ZSTD(3)),
    `sub1` String CODEC(ZSTD(3)),
    `sub2` String,
    `sub3` String,
    `sub4` String,
    `sub5` String,
    `sub6` String,
    `sub7` String,
    `sub8` String,
    `sub9` String,
    `sub10` String,
    `gclid` String,
    `gbraid` String,
    `wbraid` String,
    `msclkid` String,
    `fbclid` String,
    `ttclid` String,
    `ext_campaign_id` LowCardinality(String),
    `ext_adgroup_id` LowCardinality(String),
    `ext_ad_id` String,
    `ext_keyword` LowCardinality(String),
    `ext_placement` String,
    `ext_matchtype` LowCardinality(String),
    `ext_network` LowCardinality(String),
    `ext_device` LowCardinality(String),
    `ext_device_model` String,
    `ext_target_id` String,
    `ext_loc_physical` String,
    `ext_loc_interest` String,
    `ext_feed_item_id` String,
    `ext_ad_position` LowCardinality(String),
    `domain` LowCardinality(String),
    `destination` LowCardinality(String),
    `extra` String,
    `click_payout` Decimal(18, 4),
    `click_revenue` Decimal(18, 4),
    `currency` LowCardinality(String),
    `catalog_version` UInt64,
    `_lane` UInt8,
    `_producer` UInt16,
    `_epoch` UInt32,
    `_position` UInt64 CODEC(Delta(8), ZSTD(1)),
    `_writer_epoch` UInt64,
    `inserted_at` DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta(8), ZSTD(1)),
    INDEX click_gclid gclid TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX click_gbraid gbraid TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX click_wbraid wbraid TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX click_msclkid msclkid TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION positions
    (
        SELECT
            _lane,
            _producer,
            _epoch,
            count(),
            min(_position),
            max(_position)
        GROUP BY
            _lane,
            _producer,
            _epoch
    ),
    PROJECTION by_day
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            domain,
            smart_link_id,
            link_type,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            domain,
            smart_link_id,
            link_type,
            status,
            currency
    ),
    PROJECTION by_device
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser,
            status,
            currency
    ),
    PROJECTION by_campaign
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            ext_campaign_id,
            ext_adgroup_id,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            ext_campaign_id,
            ext_adgroup_id,
            status,
            currency
    ),
    PROJECTION by_day_country
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            status,
            currency
    ),
    PROJECTION by_day_device
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser,
            status,
            currency
    ),
    PROJECTION by_half_hour_country
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            advertiser_id,
            country,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            advertiser_id,
            country,
            status,
            currency
    ),
    PROJECTION by_half_hour
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            status,
            currency,
            count(),
            countIf(is_unique),
            countIf(is_bot),
            sum(click_payout),
            sum(click_revenue)
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            status,
            currency
    ),
    PROJECTION latest_gclid
    (
        SELECT
            sipHash64(gclid),
            workspace_id,
            offer_id,
            max(ts)
        GROUP BY
            sipHash64(gclid),
            workspace_id,
            offer_id
    ) WITH SETTINGS (index_granularity = 1024),
    PROJECTION latest_gbraid
    (
        SELECT
            sipHash64(gbraid),
            workspace_id,
            offer_id,
            max(ts)
        GROUP BY
            sipHash64(gbraid),
            workspace_id,
            offer_id
    ) WITH SETTINGS (index_granularity = 1024),
    PROJECTION latest_wbraid
    (
        SELECT
            sipHash64(wbraid),
            workspace_id,
            offer_id,
            max(ts)
        GROUP BY
            sipHash64(wbraid),
            workspace_id,
            offer_id
    ) WITH SETTINGS (index_granularity = 1024),
    PROJECTION latest_msclkid
    (
        SELECT
            sipHash64(msclkid),
            workspace_id,
            offer_id,
            max(ts)
        GROUP BY
            sipHash64(msclkid),
            workspace_id,
            offer_id
    ) WITH SETTINGS (index_granularity = 1024)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (workspace_id, ts, click_id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192, default_compression_codec = 'ZSTD(1)', materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

CREATE TABLE conversion_fact
(
    `workspace_id` UInt32,
    `conv_ts` DateTime64(3, 'UTC'),
    `id` UUID,
    `version` UInt32,
    `click_id` String,
    `click_ts` Nullable(DateTime64(3, 'UTC')),
    `offer_id` UInt32,
    `affiliate_id` UInt32,
    `advertiser_id` UInt32,
    `smart_link_id` UInt32,
    `event_code` LowCardinality(String),
    `is_private` Bool,
    `status` LowCardinality(String),
    `status_reason` String,
    `is_duplicate` Bool,
    `revenue` Decimal(18, 4),
    `payout` Decimal(18, 4),
    `sale_amount` Decimal(18, 4),
    `currency` LowCardinality(String),
    `method` LowCardinality(String),
    `country` LowCardinality(String),
    `region` LowCardinality(String),
    `city` String,
    `device_type` LowCardinality(String),
    `os` LowCardinality(String),
    `browser` LowCardinality(String),
    `traffic_source` LowCardinality(String),
    `source_id` String,
    `sub1` String,
    `sub2` String,
    `sub3` String,
    `sub4` String,
    `sub5` String,
    `sub6` String,
    `sub7` String,
    `sub8` String,
    `sub9` String,
    `sub10` String,
    `ext_campaign_id` String,
    `ext_adgroup_id` String,
    `ext_ad_id` String,
    `ext_keyword` String,
    `ext_placement` String,
    `link_type` LowCardinality(String),
    `domain` LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(conv_ts)
ORDER BY (workspace_id, offer_id, conv_ts, id)
SETTINGS index_granularity = 8192, default_compression_codec = 'ZSTD(1)', fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE fact_mark
(
    `id` UInt8,
    `number` UInt64,
    `token` String
)
ENGINE = ReplacingMergeTree(number)
ORDER BY id
SETTINGS index_granularity = 8192;

CREATE TABLE impression
(
    `workspace_id` UInt32,
    `ts` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `offer_id` UInt32,
    `advertiser_id` UInt32,
    `affiliate_id` UInt32,
    `creative_id` String,
    `is_bot` Bool,
    `country` LowCardinality(String),
    `region` LowCardinality(String),
    `city` String,
    `device_type` LowCardinality(String),
    `os` LowCardinality(String),
    `browser` LowCardinality(String),
    `traffic_source` LowCardinality(String),
    `source_id` String,
    `sub1` String,
    `sub2` String,
    `sub3` String,
    `sub4` String,
    `sub5` String,
    `sub6` String,
    `sub7` String,
    `sub8` String,
    `sub9` String,
    `sub10` String,
    `ext_campaign_id` String,
    `ext_adgroup_id` String,
    `ext_ad_id` String,
    `ext_keyword` String,
    `ext_placement` String,
    `domain` LowCardinality(String),
    `_lane` UInt8,
    `_producer` UInt16,
    `_epoch` UInt32,
    `_position` UInt64 CODEC(Delta(8), ZSTD(1)),
    `_writer_epoch` UInt64,
    `inserted_at` DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta(8), ZSTD(1)),
    PROJECTION positions
    (
        SELECT
            _lane,
            _producer,
            _epoch,
            count(),
            min(_position),
            max(_position)
        GROUP BY
            _lane,
            _producer,
            _epoch
    ),
    PROJECTION by_day
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            domain,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            domain
    ),
    PROJECTION by_device
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser
    ),
    PROJECTION by_campaign
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            ext_campaign_id,
            ext_adgroup_id,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            ext_campaign_id,
            ext_adgroup_id
    ),
    PROJECTION by_day_country
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country
    ),
    PROJECTION by_day_device
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 86400),
            offer_id,
            advertiser_id,
            country,
            device_type,
            os,
            browser
    ),
    PROJECTION by_half_hour_country
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            advertiser_id,
            country,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            advertiser_id,
            country
    ),
    PROJECTION by_half_hour
    (
        SELECT
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source,
            count()
        GROUP BY
            workspace_id,
            intDiv(toUnixTimestamp(ts), 1800),
            offer_id,
            affiliate_id,
            advertiser_id,
            country,
            traffic_source
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (workspace_id, offer_id, ts)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192, default_compression_codec = 'ZSTD(1)', materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

CREATE TABLE insert_trial
(
    `trial` UUID,
    `tried_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY tried_at
TTL tried_at + toIntervalDay(1)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE installation_mark
(
    `incarnation` UUID,
    `beat` UInt64,
    `sequences` Map(String, UInt64),
    `marked_at` DateTime64(3, 'UTC') DEFAULT now64(3),
    `is_closed` Bool DEFAULT false
)
ENGINE = ReplacingMergeTree(beat)
ORDER BY incarnation
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE TABLE lane_fence
(
    `lane` UInt8,
    `epoch` UInt64
)
ENGINE = ReplacingMergeTree(epoch)
ORDER BY lane
SETTINGS index_granularity = 8192;

CREATE TABLE producer_claim
(
    `lane` UInt8,
    `producer` UInt16,
    `epoch` UInt32,
    `nonce` String,
    `claimed_at` DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY (lane, producer, epoch)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 8192;

CREATE TABLE schema_migration
(
    `number` UInt32,
    `name` String,
    `applied_at` DateTime DEFAULT now(),
    `oldest_reader` UInt32 DEFAULT number,
    `is_applied` Bool DEFAULT true
)
ENGINE = ReplacingMergeTree
ORDER BY number
SETTINGS index_granularity = 8192;
