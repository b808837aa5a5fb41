-- Places for reports over all processes of the api (G205). Nothing here outlives the processes, so it needs no write-ahead log; after a
-- crash of Postgres it is empty, and reports that are under way are not counted.
create unlogged table report_place (
  -- 'key' or 'workspace', and its id.
  kind text not null,
  holder integer not null,
  -- From 1 to as many as the holder may have.
  place smallint not null,
  -- The process that has it, until then: it goes on renewing it.
  owner uuid not null,
  expires_at timestamptz(3) not null,
  primary key (kind, holder, place)
);
