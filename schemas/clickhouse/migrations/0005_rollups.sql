-- Reports over many rows read these sums instead. A projection is made with its part and merged with it, so it is as exact as
-- the rows: a replayed insert that the table refuses adds nothing, a late click is counted when its row is there. Which report
-- reads which is decided in api/reports/rollups.ts, by the same expressions.
alter table click add projection if not exists by_day
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain, smart_link_id, link_type, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, domain, smart_link_id, link_type, status, currency
);

alter table click add projection if not exists by_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser, status, currency
);

alter table click add projection if not exists by_campaign
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id, status, currency
);

alter table click add projection if not exists by_day_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, status, currency
);

alter table click add projection if not exists by_day_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser, status, currency
);

alter table click add projection if not exists by_half_hour_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country, status, currency,
    count(), countIf(is_unique), countIf(is_bot), sum(click_payout), sum(click_revenue)
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country, status, currency
);

alter table click add projection if not exists by_half_hour
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
);

alter table impression add projection if not exists by_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, device_type, os, browser
);

alter table impression add projection if not exists by_campaign
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, affiliate_id, advertiser_id, country, traffic_source, ext_campaign_id, ext_adgroup_id
);

alter table impression add projection if not exists by_day_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country
);

alter table impression add projection if not exists by_day_device
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 86400), offer_id, advertiser_id, country, device_type, os, browser
);

alter table impression add projection if not exists by_half_hour_country
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, advertiser_id, country
);

alter table impression add projection if not exists by_half_hour
(
  select workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source,
    count()
  group by workspace_id, intDiv(toUnixTimestamp(ts), 1800), offer_id, affiliate_id, advertiser_id, country, traffic_source
);

-- Parts of before get theirs in the background; until then their rows are read one by one.
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
