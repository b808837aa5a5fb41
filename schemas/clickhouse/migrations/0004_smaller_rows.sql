-- Bytes of a click on disk: test/bench/README.md has them column by column. New parts and merges are written like this.
alter table click modify setting default_compression_codec = 'ZSTD(1)';
alter table impression modify setting default_compression_codec = 'ZSTD(1)';
alter table conversion_fact modify setting default_compression_codec = 'ZSTD(1)';
-- What grows by a little from row to row, and the id that begins with the time: two bytes less by the third level.
alter table click
  modify column click_id codec(ZSTD(3)),
  modify column ts codec(Delta(8), ZSTD(1)),
  modify column inserted_at codec(Delta(8), ZSTD(1)),
  modify column _position codec(Delta(8), ZSTD(1));
alter table impression
  modify column ts codec(Delta(8), ZSTD(1)),
  modify column inserted_at codec(Delta(8), ZSTD(1)),
  modify column _position codec(Delta(8), ZSTD(1));
-- Long texts with few values. Sub IDs and ad ids stay plain: many networks send an id of their own with each click there.
alter table click
  modify column user_agent LowCardinality(String),
  modify column referrer_host LowCardinality(String),
  modify column city LowCardinality(String),
  modify column destination LowCardinality(String),
  modify column ext_campaign_id LowCardinality(String),
  modify column ext_adgroup_id LowCardinality(String),
  modify column ext_keyword LowCardinality(String);
