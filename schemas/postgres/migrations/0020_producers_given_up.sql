-- Since when the records of a producer are given up: its host is lost with its disk. It counts again when it speaks.
alter table ingress_producer
  add column given_up_at timestamptz(3),
  -- UTC milliseconds: clicks answered since then may be missing.
  add column given_up_from_ms bigint;
