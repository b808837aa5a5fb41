-- An insert wrote twelve projections besides its rows, which took it longer than the rows. The first merge of new parts writes them
-- instead, once for many inserts. Until then reports read the rows of these parts, some seconds of traffic. Servers before 26.6
-- do not have the settings and go on as before.
-- requires setting: materialize_projections_on_merge
alter table click modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

-- requires setting: materialize_projections_on_merge
alter table impression modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

-- The latest click of an ID is found by the hash of the ID: the IDs themselves took as much room as the column. Nobody can make an
-- ID with the hash of another one, because SipHash has no known second preimages, and the click's own ID is compared as well.
alter table click add projection if not exists latest_gclid
(
  select sipHash64(gclid), workspace_id, offer_id, max(ts) group by sipHash64(gclid), workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click add projection if not exists latest_gbraid
(
  select sipHash64(gbraid), workspace_id, offer_id, max(ts) group by sipHash64(gbraid), workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click add projection if not exists latest_wbraid
(
  select sipHash64(wbraid), workspace_id, offer_id, max(ts) group by sipHash64(wbraid), workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click add projection if not exists latest_msclkid
(
  select sipHash64(msclkid), workspace_id, offer_id, max(ts) group by sipHash64(msclkid), workspace_id, offer_id
) with settings (index_granularity = 1024);

alter table click drop projection if exists latest_by_gclid;
alter table click drop projection if exists latest_by_gbraid;
alter table click drop projection if exists latest_by_wbraid;
alter table click drop projection if exists latest_by_msclkid;

-- In the background; until then the Bloom filters find the IDs.
alter table click materialize projection latest_gclid;
alter table click materialize projection latest_gbraid;
alter table click materialize projection latest_wbraid;
alter table click materialize projection latest_msclkid;

-- Numbers without the bits that they do not use. Only parts written from now on.
alter table click
  modify column offer_id UInt32 codec(T64, ZSTD(1)),
  modify column advertiser_id UInt32 codec(T64, ZSTD(1)),
  modify column affiliate_id UInt32 codec(T64, ZSTD(1)),
  modify column asn UInt32 codec(T64, ZSTD(1)),
  modify column visitor UInt64 codec(T64, ZSTD(1)),
  modify column source_id String codec(ZSTD(3)),
  modify column sub1 String codec(ZSTD(3));
